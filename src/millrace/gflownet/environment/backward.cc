// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/environment/backward.h"

#include <algorithm>
#include <cstdint>

#include "millrace/plan/chain_graph.h"
#include "millrace/simulate/timeline.h"

namespace millrace {

std::vector<Action> DrawTrajectory(const CostedGraph& costed, const Assignment& assignment, Random& random) {
  // By group, what keeps it from being removed: its successors, and the units on which another group comes after it.
  std::vector<std::int32_t> held(static_cast<std::size_t>(costed.num_groups), 0);
  for (int group = 0; group < costed.num_groups; ++group)
    held[static_cast<std::size_t>(group)] = static_cast<std::int32_t>(costed.Successors(group).size());
  const std::vector<std::vector<int>> chains = UnitChains(costed.topology, assignment);
  std::vector<std::vector<int>> before(static_cast<std::size_t>(costed.num_groups));
  for (const std::vector<int>& chain : chains) {
    for (std::size_t i = 1; i < chain.size(); ++i) {
      before[static_cast<std::size_t>(chain[i])].push_back(chain[i - 1]);
      ++held[static_cast<std::size_t>(chain[i - 1])];
    }
  }

  std::vector<std::int32_t> removable;
  for (int group = 0; group < costed.num_groups; ++group) {
    if (held[static_cast<std::size_t>(group)] == 0) removable.push_back(group);
  }
  std::vector<Action> actions;
  actions.reserve(static_cast<std::size_t>(costed.num_groups));
  const auto release = [&held, &removable](int group) {
    if (--held[static_cast<std::size_t>(group)] == 0) removable.push_back(group);
  };
  while (!removable.empty()) {
    const std::size_t at = random.Below(removable.size());
    const std::int32_t group = removable[at];
    removable[at] = removable.back();
    removable.pop_back();
    actions.push_back({group, assignment.placement[static_cast<std::size_t>(group)]});
    for (const GroupEdge& edge : costed.Predecessors(group)) release(edge.group);
    for (const int earlier : before[static_cast<std::size_t>(group)]) release(earlier);
  }
  std::reverse(actions.begin(), actions.end());
  return actions;
}

std::vector<Action> TrajectoryByStart(const Environment& environment, const Assignment& assignment) {
  const Timeline timeline = MakeTimeline(environment.costed(), assignment);
  std::vector<std::int32_t> order(assignment.sequence.begin(), assignment.sequence.end());
  // A group that takes no time starts together with its successor. The stable sort leaves such groups in their order.
  std::stable_sort(order.begin(), order.end(), [&timeline](std::int32_t a, std::int32_t b) {
    return timeline.start[static_cast<std::size_t>(a)] < timeline.start[static_cast<std::size_t>(b)];
  });
  std::vector<Action> actions;
  actions.reserve(order.size());
  for (const std::int32_t group : order)
    actions.push_back({group, assignment.placement[static_cast<std::size_t>(group)]});
  return actions;
}

}  // namespace millrace
