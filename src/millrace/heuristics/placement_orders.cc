// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/placement_orders.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>

#include "millrace/heuristics/memory_saving_order.h"
#include "millrace/heuristics/placed_list.h"
#include "millrace/heuristics/upward_rank.h"
#include "millrace/simulate/reversed.h"
#include "millrace/simulate/timeline.h"

namespace millrace {
namespace {

std::vector<int> FileOrder(const CostedGraph& costed) {
  std::vector<std::int32_t> first_op;
  first_op.reserve(costed.groups.size());
  for (const std::vector<OpId>& group : costed.groups)
    first_op.push_back(*std::min_element(group.begin(), group.end()));
  return LeastKeyFirst(costed, first_op);
}

std::vector<int> BreadthFirst(const CostedGraph& costed) {
  std::vector<std::int32_t> depth(static_cast<std::size_t>(costed.num_groups), 0);
  for (const std::int32_t group : costed.topological_order) {
    for (const GroupEdge& edge : costed.Successors(group)) {
      std::int32_t& own = depth[static_cast<std::size_t>(edge.group)];
      own = std::max(own, depth[static_cast<std::size_t>(group)] + 1);
    }
  }
  return LeastKeyFirst(costed, depth);
}

const OrderedPlacement& Fastest(const std::vector<OrderedPlacement>& placed) {
  return *std::min_element(placed.begin(), placed.end(),
                           [](const auto& a, const auto& b) { return a.planned.makespan < b.planned.makespan; });
}

}  // namespace

std::vector<int> LeastKeyFirst(const CostedGraph& costed, const std::vector<std::int32_t>& keys) {
  using Ready = std::pair<std::int32_t, int>;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
  std::vector<std::size_t> waiting(static_cast<std::size_t>(costed.num_groups));
  const auto let_in = [&](int group) { ready.push({keys[static_cast<std::size_t>(group)], group}); };
  for (int group = 0; group < costed.num_groups; ++group) {
    waiting[static_cast<std::size_t>(group)] = costed.Predecessors(group).size();
    if (costed.Predecessors(group).empty()) let_in(group);
  }
  std::vector<int> order;
  order.reserve(waiting.size());
  while (!ready.empty()) {
    const int group = ready.top().second;
    ready.pop();
    order.push_back(group);
    for (const GroupEdge& edge : costed.Successors(group)) {
      if (--waiting[static_cast<std::size_t>(edge.group)] == 0) let_in(edge.group);
    }
  }
  return order;
}

PlannedAssignment OrderThereAndBack(const CostedGraph& costed, PlannedAssignment from) {
  constexpr std::int64_t kMostRounds = 8;
  constexpr std::int64_t kMostInVain = 3;
  constexpr std::int64_t kMostVisits = 2'000'000;  // of all rounds, where there are several
  const CostedGraph reversed = Reversed(costed);
  Simulator simulator(costed);
  const std::vector<int> placement = from.assignment.placement;
  Timeline timeline = MakeTimeline(costed, from.assignment);
  const std::int64_t rounds =
      std::clamp<std::int64_t>(kMostVisits / std::max<std::int64_t>(1, costed.Visits()), 1, kMostRounds);
  for (std::int64_t round = 0, in_vain = 0; round < rounds && in_vain < kMostInVain; ++round, ++in_vain) {
    const PlacedSchedule back = SchedulePlaced(reversed, placement, timeline.finish);
    PlacedSchedule there = SchedulePlaced(costed, placement, back.timeline.finish);
    const double makespan = simulator.Makespan(there.assignment);
    timeline = std::move(there.timeline);
    if (!(makespan < from.makespan)) continue;
    from = {std::move(there.assignment), makespan};
    in_vain = -1;
  }
  return from;
}

std::vector<OrderedPlacement> PlacedInFixedOrders(const CostedGraph& costed, const std::vector<int>& placement) {
  std::vector<OrderedPlacement> placed;
  Simulator simulator(costed);
  const auto add = [&](const char* order, std::vector<int> sequence) {
    Assignment assignment{placement, std::move(sequence)};
    const double makespan = simulator.Makespan(assignment);
    placed.push_back({order, {std::move(assignment), makespan}});
  };
  const std::vector<double> ranks = UpwardRanks(costed, MeanSeconds(costed), MeanTransferOf(costed.topology));
  add("upward-rank", SchedulePlaced(costed, placement, ranks).assignment.sequence);
  add("readiness", SchedulePlaced(costed, placement, {}).assignment.sequence);
  add("file", FileOrder(costed));
  add("depth-first", MemorySavingOrder(costed, MemorySavingRule::kDepthFirst));
  add("breadth-first", BreadthFirst(costed));
  add("least-memory", MemorySavingOrder(costed, MemorySavingRule::kLeastIncrease));
  return placed;
}

std::vector<OrderedPlacement> PlacedInOrders(const CostedGraph& costed, const std::vector<int>& placement) {
  std::vector<OrderedPlacement> placed = PlacedInFixedOrders(costed, placement);
  placed.push_back({"there-and-back", OrderThereAndBack(costed, Fastest(placed).planned)});
  return placed;
}

PlannedAssignment BestOfOrders(const CostedGraph& costed, const std::vector<int>& placement) {
  return Fastest(PlacedInOrders(costed, placement)).planned;
}

}  // namespace millrace
