// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/contention.h"

#include <algorithm>

#include "millrace/graph/index.h"
#include "millrace/simulate/memory_check.h"

namespace millrace {

ContendedSimulator::ContendedSimulator(const CostedGraph& costed)
    : costed_(costed),
      run_(costed),
      position_(Index(costed.num_groups)),
      last_on_(Index(costed.topology.num_units)),
      last_unit_of_(last_on_.size()) {
  for (int device = 0; device < costed.num_devices; ++device)
    most_units_ = std::max(most_units_, Index(costed.topology.UnitsOf(device)));
  next_.resize(position_.size() * most_units_);
  state_.waiting.resize(position_.size());
}

double ContendedSimulator::Makespan(std::span<const int> placement, std::span<const int> sequence) {
  const Topology& topology = costed_.topology;
  std::fill(next_.begin(), next_.end(), -1);
  std::fill(last_on_.begin(), last_on_.end(), -1);
  int place = 0;
  for (const int group : sequence) {
    position_[Index(group)] = place++;
    std::int32_t& waiting = state_.waiting[Index(group)];
    waiting = run_.InputsOf(group);
    const int device = placement[Index(group)];
    const std::int32_t first = topology.device_offsets[Index(device)];
    for (std::int32_t u = first; u < topology.device_offsets[Index(device) + 1]; ++u) {
      const std::size_t unit = Index(topology.device_units[Index(u)]);
      const int before = last_on_[unit];
      if (before >= 0) {
        next_[Index(before) * most_units_ + Index(last_unit_of_[unit])] = group;
        ++waiting;
      }
      last_on_[unit] = group;
      last_unit_of_[unit] = u - first;
    }
  }
  const ChainedPlan plan{placement.data(), position_.data(), next_.data(), most_units_};
  run_.Begin(plan, state_);
  while (run_.Step(plan, state_)) {
  }
  return state_.makespan;
}

void ContendedSimulator::Run(const Assignment& assignment, Timeline& timeline) {
  timeline.makespan = Makespan(assignment.placement, assignment.sequence);
  timeline.start.assign(state_.start.begin(), state_.start.end());
  timeline.finish = timeline.start;
  for (int group = 0; group < costed_.num_groups; ++group)
    timeline.finish[Index(group)] += costed_.Seconds(group, assignment.placement[Index(group)]);
}

std::span<const ContendedRun::TracedTransfer> ContendedSimulator::Trace(const Assignment& assignment,
                                                                        Timeline& timeline,
                                                                        std::vector<std::int32_t>& causes) {
  run_.TraceInto(&causes);
  Run(assignment, timeline);
  run_.TraceInto(nullptr);
  return run_.traced();
}

Timeline ContendedTimeline(const CostedGraph& costed, const Assignment& assignment) {
  ContendedSimulator simulator(costed);
  Timeline timeline;
  simulator.Run(assignment, timeline);
  return timeline;
}

std::optional<double> ContendedSeconds(const CostedGraph& costed, const Assignment& assignment) {
  if (!FitsInMemory(costed, assignment)) return std::nullopt;
  return ContendedSimulator(costed).Makespan(assignment.placement, assignment.sequence);
}

}  // namespace millrace
