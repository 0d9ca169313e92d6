// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/timeline.h"

#include <algorithm>
#include <bit>

#include "millrace/simulate/contention.h"

namespace millrace {

Simulator::Simulator(const CostedGraph& costed)
    : costed_(costed),
      finish_(static_cast<std::size_t>(costed.num_groups), 0.0),
      unit_free_(static_cast<std::size_t>(costed.topology.num_units), 0.0) {
  const Topology& topology = costed.topology;
  if (topology.proxy == Proxy::kContended) {
    contended_ = std::make_unique<ContendedSimulator>(costed);
    return;
  }
  single_units_ = topology.num_units == topology.num_devices &&
                  topology.device_units.size() == static_cast<std::size_t>(topology.num_devices);
  for (int to = 0; to < topology.num_devices; ++to) {
    for (int from = 0; from < topology.num_devices; ++from) {
      const std::size_t pair = topology.Pair(from, to);
      links_.push_back({topology.latency[pair], topology.seconds_per_byte[pair]});
    }
  }
  transfers_ = TransfersOf();
  FillBlocks();
}

Simulator::~Simulator() = default;

Simulator::Transfers Simulator::TransfersOf() const {
  if (std::all_of(links_.begin(), links_.end(), [](const LinkCost& link) { return link == LinkCost{}; }))
    return Transfers::kFree;
  const auto devices = static_cast<std::size_t>(costed_.num_devices);
  for (std::size_t pair = 0; pair < links_.size(); ++pair) {
    const bool diagonal = pair / devices == pair % devices;
    if (!single_units_ || links_[pair] != (diagonal ? LinkCost{} : links_[1])) return Transfers::kByPair;
  }
  return Transfers::kUniform;
}

void Simulator::FillBlocks() {
  block_offsets_.reserve(static_cast<std::size_t>(costed_.num_groups) + 1);
  block_offsets_.push_back(0);
  for (int group = 0; group < costed_.num_groups; ++group) {
    const std::size_t blocks = (costed_.Predecessors(group).size() + kBlock - 1) / kBlock;
    block_offsets_.push_back(block_offsets_.back() + static_cast<std::int32_t>(blocks));
  }
  const std::size_t filled = static_cast<std::size_t>(block_offsets_.back()) * kBlock;
  blocks_.reserve(filled);
  if (transfers_ != Transfers::kFree) block_costs_.reserve(filled);
  for (int group = 0; group < costed_.num_groups; ++group) {
    const std::span<const GroupEdge> edges = costed_.Predecessors(group);
    const auto end = static_cast<std::size_t>(block_offsets_[static_cast<std::size_t>(group) + 1]) * kBlock;
    for (std::size_t e = 0; blocks_.size() < end; ++e) {
      const GroupEdge& edge = edges[e < edges.size() ? e : 0];
      blocks_.push_back(edge.group);
      if (transfers_ == Transfers::kByPair) block_costs_.push_back(edge.bytes);
      if (transfers_ == Transfers::kUniform)
        block_costs_.push_back(links_[1].latency + edge.bytes * links_[1].seconds_per_byte);
    }
  }
}

template <Simulator::Transfers kTransfers, bool kSingleUnits>
double Simulator::Sweep(std::span<const int> placement, std::span<const int> sequence) {
  const Topology& topology = costed_.topology;
  const auto devices = static_cast<std::size_t>(costed_.num_devices);
  const std::int32_t* const offsets = block_offsets_.data();
  const std::int32_t* const blocks = blocks_.data();
  const double* const block_costs = block_costs_.data();
  const double* const seconds = costed_.seconds.data();
  const std::int32_t* const device_offsets = topology.device_offsets.data();
  const std::int32_t* const device_units = topology.device_units.data();
  double* const finish = finish_.data();
  double* const unit_free = unit_free_.data();
  std::fill(unit_free_.begin(), unit_free_.end(), 0.0);
  for (const int g : sequence) {
    const auto group = static_cast<std::size_t>(g);
    const int here = placement[group];
    const auto device = static_cast<std::size_t>(here);
    const LinkCost* const links = links_.data() + device * devices;
    const auto ready = [&](std::size_t edge) {
      const auto from = static_cast<std::size_t>(blocks[edge]);
      if constexpr (kTransfers == Transfers::kFree) {
        return finish[from];
      } else if constexpr (kTransfers == Transfers::kUniform) {
        const auto away = static_cast<std::uint64_t>(placement[from] != here);
        return finish[from] + std::bit_cast<double>(std::bit_cast<std::uint64_t>(block_costs[edge]) & (0 - away));
      } else {
        const LinkCost& link = links[placement[from]];
        return finish[from] + (link.latency + block_costs[edge] * link.seconds_per_byte);
      }
    };
    double start = 0;
    const auto last_edge = static_cast<std::size_t>(offsets[group + 1]) * kBlock;
    for (auto e = static_cast<std::size_t>(offsets[group]) * kBlock; e < last_edge; e += kBlock) {
      start = std::max(start, std::max(std::max(ready(e), ready(e + 1)), std::max(ready(e + 2), ready(e + 3))));
    }
    if constexpr (kSingleUnits) {
      double& unit = unit_free[device];
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
  if (contended_ != nullptr) return contended_->Makespan(placement, sequence);
  switch (transfers_) {
    case Transfers::kFree:
      return single_units_ ? Sweep<Transfers::kFree, true>(placement, sequence)
                           : Sweep<Transfers::kFree, false>(placement, sequence);
    case Transfers::kUniform:
      return Sweep<Transfers::kUniform, true>(placement, sequence);
    case Transfers::kByPair:
      break;
  }
  return single_units_ ? Sweep<Transfers::kByPair, true>(placement, sequence)
                       : Sweep<Transfers::kByPair, false>(placement, sequence);
}

void Simulator::Run(const Assignment& assignment, Timeline& timeline) {
  if (contended_ != nullptr) return contended_->Run(assignment, timeline);
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
