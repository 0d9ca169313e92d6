// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/timeline.h"

#include <algorithm>

namespace millrace {

Simulator::Simulator(const CostedGraph& costed)
    : costed_(costed),
      finish_(static_cast<std::size_t>(costed.num_groups), 0.0),
      unit_free_(static_cast<std::size_t>(costed.topology.num_units), 0.0) {
  const Topology& topology = costed.topology;
  const auto costs = [](double seconds) { return seconds > 0; };
  free_transfers_ = std::none_of(topology.latency.begin(), topology.latency.end(), costs) &&
                    std::none_of(topology.seconds_per_byte.begin(), topology.seconds_per_byte.end(), costs);
  single_units_ = topology.num_units == topology.num_devices &&
                  topology.device_units.size() == static_cast<std::size_t>(topology.num_devices);
}

template <bool kFreeTransfers, bool kSingleUnits>
double Simulator::Sweep(std::span<const int> placement, std::span<const int> sequence) {
  const Topology& topology = costed_.topology;
  const auto devices = static_cast<std::size_t>(costed_.num_devices);
  const std::int32_t* const offsets = costed_.predecessor_offsets.data();
  const GroupEdge* const edges = costed_.predecessors.data();
  const double* const seconds = costed_.seconds.data();
  const double* const latency = topology.latency.data();
  const double* const seconds_per_byte = topology.seconds_per_byte.data();
  const std::int32_t* const device_offsets = topology.device_offsets.data();
  const std::int32_t* const device_units = topology.device_units.data();
  double* const finish = finish_.data();
  double* const unit_free = unit_free_.data();
  std::fill(unit_free_.begin(), unit_free_.end(), 0.0);
  for (const int g : sequence) {
    const auto group = static_cast<std::size_t>(g);
    const auto device = static_cast<std::size_t>(placement[group]);
    double start = 0;
    for (std::int32_t e = offsets[group]; e < offsets[group + 1]; ++e) {
      const auto from = static_cast<std::size_t>(edges[e].group);
      double ready = finish[from];
      if constexpr (!kFreeTransfers) {
        const std::size_t pair = static_cast<std::size_t>(placement[from]) * devices + device;
        ready += latency[pair] + edges[e].bytes * seconds_per_byte[pair];
      }
      start = std::max(start, ready);
    }
    if constexpr (kSingleUnits) {
      double& unit = unit_free[static_cast<std::size_t>(device_units[device])];
      start = std::max(start, unit);
      unit = finish[group] = start + seconds[group * devices + device];
    } else {
      const std::int32_t first = device_offsets[device];
      const std::int32_t last = device_offsets[device + 1];
      for (std::int32_t u = first; u < last; ++u) start = std::max(start, unit_free[device_units[u]]);
      const double end = start + seconds[group * devices + device];
      for (std::int32_t u = first; u < last; ++u) unit_free[device_units[u]] = end;
      finish[group] = end;
    }
  }
  // The last finish overall is the last finish of some unit.
  double makespan = 0;
  for (const double free : unit_free_) makespan = std::max(makespan, free);
  return makespan;
}

double Simulator::Makespan(std::span<const int> placement, std::span<const int> sequence) {
  if (free_transfers_) {
    return single_units_ ? Sweep<true, true>(placement, sequence) : Sweep<true, false>(placement, sequence);
  }
  return single_units_ ? Sweep<false, true>(placement, sequence) : Sweep<false, false>(placement, sequence);
}

void Simulator::Run(const Assignment& assignment, Timeline& timeline) {
  timeline.makespan = Makespan(assignment);
  timeline.finish.assign(finish_.begin(), finish_.end());
  // Starts are swept again, not computed as finish - duration: that would differ in the last bit.
  timeline.start.assign(finish_.size(), 0.0);
  const Topology& topology = costed_.topology;
  std::fill(unit_free_.begin(), unit_free_.end(), 0.0);
  for (const int g : assignment.sequence) {
    const int device = assignment.placement[static_cast<std::size_t>(g)];
    double start = 0;
    for (const GroupEdge& edge : costed_.Predecessors(g)) {
      const int from = assignment.placement[static_cast<std::size_t>(edge.group)];
      const std::size_t pair = topology.Pair(from, device);
      start = std::max(start, finish_[static_cast<std::size_t>(edge.group)] +
                                  (topology.latency[pair] + edge.bytes * topology.seconds_per_byte[pair]));
    }
    const auto first = static_cast<std::size_t>(topology.device_offsets[static_cast<std::size_t>(device)]);
    const auto last = static_cast<std::size_t>(topology.device_offsets[static_cast<std::size_t>(device) + 1]);
    for (std::size_t u = first; u < last; ++u)
      start = std::max(start, unit_free_[static_cast<std::size_t>(topology.device_units[u])]);
    for (std::size_t u = first; u < last; ++u)
      unit_free_[static_cast<std::size_t>(topology.device_units[u])] = finish_[static_cast<std::size_t>(g)];
    timeline.start[static_cast<std::size_t>(g)] = start;
  }
}

Timeline MakeTimeline(const CostedGraph& costed, const Assignment& assignment) {
  Timeline timeline;
  Simulator(costed).Run(assignment, timeline);
  return timeline;
}

}  // namespace millrace
