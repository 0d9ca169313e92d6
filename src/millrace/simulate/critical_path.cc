// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/critical_path.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "millrace/simulate/contention.h"

namespace millrace {
namespace {

std::size_t At(std::int64_t number) { return static_cast<std::size_t>(number); }

void TraceLinear(const CostedGraph& costed, const Assignment& assignment, TracedTimeline& traced) {
  const Topology& topology = costed.topology;
  const std::vector<double>& finish = traced.timeline.finish;
  std::vector<std::int32_t> last_on(At(topology.num_units), -1);
  for (const int group : assignment.sequence) {
    const int here = assignment.placement[At(group)];
    StartReason& reason = traced.reasons[At(group)];
    double latest = 0;
    for (std::int32_t u = topology.device_offsets[At(here)]; u < topology.device_offsets[At(here) + 1]; ++u) {
      std::int32_t& last = last_on[At(topology.device_units[At(u)])];
      if (last >= 0 && finish[At(last)] > latest) {
        latest = finish[At(last)];
        reason = {WaitsFor::kDevice, last, -1};
      }
      last = group;
    }
    double sent = 0;
    for (const GroupEdge& edge : costed.Predecessors(group)) {
      const int from = assignment.placement[At(edge.group)];
      const double arrival = finish[At(edge.group)] + costed.TransferSeconds(edge.bytes, from, here);
      if (arrival <= latest) continue;
      latest = arrival;
      sent = finish[At(edge.group)];
      reason = {arrival > sent ? WaitsFor::kTransfer : WaitsFor::kInput, edge.group, -1};
    }
    if (reason.what != WaitsFor::kTransfer) continue;
    reason.transfer = static_cast<std::int32_t>(traced.transfers.size());
    traced.transfers.push_back({reason.group, here, sent, latest, -1});
  }
}

void TraceContended(const CostedGraph& costed, const Assignment& assignment, TracedTimeline& traced) {
  std::vector<std::int32_t> causes;
  ContendedSimulator simulator(costed);
  for (const ContendedRun::TracedTransfer& transfer : simulator.Trace(assignment, traced.timeline, causes))
    traced.transfers.push_back({transfer.producer, transfer.to, transfer.begin, transfer.end, transfer.behind});
  for (int group = 0; group < costed.num_groups; ++group) {
    const std::int32_t cause = causes[At(group)];
    StartReason& reason = traced.reasons[At(group)];
    if (cause < -1) {
      reason.transfer = -2 - cause;
      reason.what = WaitsFor::kTransfer;
      reason.group = traced.transfers[At(reason.transfer)].producer;
    } else if (cause >= 0) {
      const std::span<const GroupEdge> inputs = costed.Predecessors(group);
      const bool reads =
          std::any_of(inputs.begin(), inputs.end(), [cause](const GroupEdge& edge) { return edge.group == cause; });
      reason = {reads ? WaitsFor::kInput : WaitsFor::kDevice, cause, -1};
    }
  }
}

}  // namespace

TracedTimeline TraceTimeline(const CostedGraph& costed, const Assignment& assignment) {
  TracedTimeline traced;
  traced.reasons.resize(At(costed.num_groups));
  if (costed.topology.proxy == Proxy::kContended) {
    TraceContended(costed, assignment, traced);
  } else {
    traced.timeline = MakeTimeline(costed, assignment);
    TraceLinear(costed, assignment, traced);
  }
  return traced;
}

std::vector<CriticalStep> CriticalPath(const TracedTimeline& traced) {
  std::vector<CriticalStep> path;
  const std::vector<double>& finish = traced.timeline.finish;
  if (finish.empty()) return path;
  auto group = static_cast<std::int32_t>(std::max_element(finish.begin(), finish.end()) - finish.begin());
  while (group >= 0) {
    path.push_back({group, -1, traced.timeline.start[At(group)], finish[At(group)]});
    const StartReason& reason = traced.reasons[At(group)];
    group = reason.group;
    for (std::int32_t transfer = reason.transfer; transfer >= 0;) {
      const TracedTransfer& step = traced.transfers[At(transfer)];
      path.push_back({step.producer, transfer, step.begin, step.end});
      group = step.producer;
      transfer = step.behind;
    }
  }
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace millrace
