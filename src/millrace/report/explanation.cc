// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/explanation.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <set>

#include "millrace/cost/cost_model.h"
#include "millrace/simulate/memory_check.h"

namespace millrace {
namespace {

std::size_t At(int number) { return static_cast<std::size_t>(number); }

double TransferredBytes(const CostedGraph& costed, const std::vector<int>& placement) {
  double bytes = 0;
  std::set<std::int32_t> memories;
  for (const GroupTensor& tensor : costed.tensors) {
    if (tensor.producer < 0) continue;
    const int from = placement[At(tensor.producer)];
    memories.clear();
    for (const std::int32_t reader : costed.Readers(tensor)) {
      const int to = placement[At(reader)];
      if (costed.topology.free[costed.topology.Pair(from, to)] == 0) memories.insert(costed.topology.memory_of[At(to)]);
    }
    bytes += static_cast<double>(memories.size()) * tensor.bytes;
  }
  return bytes;
}

}  // namespace

PlanExplanation Explain(const CostedGraph& costed, const Assignment& assignment) {
  PlanExplanation explanation;
  explanation.traced = TraceTimeline(costed, assignment);
  explanation.path = CriticalPath(explanation.traced);
  explanation.path_seconds.resize(At(costed.num_groups));
  explanation.path_busy.resize(At(costed.num_devices));
  explanation.busy.resize(At(costed.num_devices));
  for (int group = 0; group < costed.num_groups; ++group) {
    const int device = assignment.placement[At(group)];
    explanation.busy[At(device)] += costed.Seconds(group, device);
  }
  for (std::size_t s = 0; s < explanation.path.size(); ++s) {
    const CriticalStep& step = explanation.path[s];
    const double seconds = step.end - step.begin;
    if (step.transfer < 0) {
      explanation.path_seconds[At(step.group)] += seconds;
      explanation.path_busy[At(assignment.placement[At(step.group)])] += seconds;
    } else {
      // What follows a transfer is either the group that reads it or the transfer it let wait.
      const bool read = explanation.path[s + 1].transfer < 0;
      (read ? explanation.path_transfers : explanation.path_queues) += seconds;
    }
  }
  explanation.transferred_bytes = TransferredBytes(costed, assignment.placement);
  return explanation;
}

std::vector<int> MostCriticalGroups(const PlanExplanation& explanation, std::size_t most) {
  const std::vector<double>& seconds = explanation.path_seconds;
  std::vector<int> groups(seconds.size());
  std::iota(groups.begin(), groups.end(), 0);
  std::erase_if(groups, [&seconds](int group) { return seconds[At(group)] <= 0; });
  std::stable_sort(groups.begin(), groups.end(), [&seconds](int a, int b) { return seconds[At(a)] > seconds[At(b)]; });
  groups.resize(std::min(most, groups.size()));
  return groups;
}

std::vector<WhatIf> WhatIfMoved(const CostedGraph& costed, const Assignment& assignment, int group) {
  std::vector<int> together{group};
  const std::int32_t colocation = costed.colocation[At(group)];
  for (int other = 0; colocation >= 0 && other < costed.num_groups; ++other) {
    if (other != group && costed.colocation[At(other)] == colocation) together.push_back(other);
  }
  std::vector<WhatIf> moved;
  Simulator simulator(costed);
  MemoryCheck memory(costed);
  Timeline timeline;
  Assignment elsewhere = assignment;
  for (int device = 0; device < costed.num_devices; ++device) {
    const bool can_run = std::all_of(together.begin(), together.end(),
                                     [&](int other) { return costed.Seconds(other, device) < kCannotRun; });
    if (!can_run) {
      moved.push_back({kCannotRun, kCannotRun, true});
      continue;
    }
    for (const int other : together) elsewhere.placement[At(other)] = device;
    simulator.Run(elsewhere, timeline);
    moved.push_back({timeline.finish[At(group)], timeline.makespan, memory.Fits(elsewhere)});
  }
  return moved;
}

}  // namespace millrace
