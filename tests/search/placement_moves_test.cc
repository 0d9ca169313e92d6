// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/placement_moves.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "millrace/cost/analytic_cost.h"
#include "millrace/heuristics/placed_list.h"
#include "millrace/plan/verify.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

constexpr int kProblems = 60;

struct Placed {
  ComputationGraph graph;
  Machine machine;
  CostedGraph costed;
  std::vector<int> placement;

  // Valid when ordered; nothing is said of memory.
  bool Valid(const std::vector<int>& placed) const {
    return !WhyNotValid(graph, machine,
                        {costed.groups, placed, SchedulePlaced(costed, placed, {}).assignment.sequence});
  }
};

// Nothing where groups that must share a device can run nowhere, or where there is nothing to move.
std::optional<Placed> AnyPlaced(Random& random) {
  Placed placed{testing::RandomGraph(random), testing::RandomMachine(random), {}, {}};
  try {
    placed.costed = MakeCostedGraph(*MakeAnalyticCostModel(placed.graph, placed.machine), SingleOpGroups(placed.graph));
  } catch (const std::exception&) {
    return std::nullopt;
  }
  const CostedGraph& costed = placed.costed;
  if (costed.num_devices < 2 || costed.num_groups == 0) return std::nullopt;
  for (int group = 0; group < costed.num_groups; ++group) {
    int device = 0;
    for (int other = 0; other < costed.num_devices; ++other) {
      if (costed.Seconds(group, other) < costed.Seconds(group, device)) device = other;
    }
    placed.placement.push_back(device);
  }
  if (!placed.Valid(placed.placement)) return std::nullopt;
  return placed;
}

TEST(MovingPlacement, StaysValidAndTakesBackWhatItDid) {
  Random random(1);
  int moved = 0, problems = 0;
  for (int i = 0; i < kProblems; ++i) {
    const std::optional<Placed> placed = AnyPlaced(random);
    if (!placed) continue;
    ++problems;
    const std::vector<ClusterLevel> levels = MovedClusters(placed->costed);
    MovingPlacement moving(placed->costed, levels, placed->placement);
    for (int move = 0; move < 40; ++move) {
      const std::vector<int> before = moving.placement();
      const bool changed = moving.MoveByChance(random);
      EXPECT_EQ(changed, moving.placement() != before);
      ASSERT_TRUE(placed->Valid(moving.placement()));
      moved += changed ? 1 : 0;
      if (random.Uniform() < 0.5) continue;
      moving.Undo();
      EXPECT_EQ(moving.placement(), before);
      moving.Undo();
      EXPECT_EQ(moving.placement(), before) << "there was nothing more to take back";
    }
  }
  EXPECT_GT(problems, kProblems / 4);
  EXPECT_GT(moved, 10 * problems);
}

TEST(MovingPlacement, MovesWhatItIsToldWhereThatCanRunAndWhatMustComeAlong) {
  Random random(2);
  int stayed = 0, came_along = 0;
  for (int i = 0; i < kProblems; ++i) {
    const std::optional<Placed> placed = AnyPlaced(random);
    if (!placed) continue;
    const CostedGraph& costed = placed->costed;
    const std::vector<ClusterLevel> levels = MovedClusters(costed);
    MovingPlacement moving(costed, levels, placed->placement);
    std::vector<std::int32_t> groups;
    for (std::int32_t group = 0; group < costed.num_groups; ++group) {
      if (random.Uniform() < 0.3) groups.push_back(group);
    }
    const int device = static_cast<int>(random.Below(static_cast<std::uint64_t>(costed.num_devices)));
    std::vector<int> expected = placed->placement;
    for (const std::int32_t group : groups) {
      if (!std::isfinite(costed.Seconds(group, device))) {
        ++stayed;
        continue;
      }
      const std::int32_t colocation = costed.colocation[static_cast<std::size_t>(group)];
      for (std::int32_t other = 0; other < costed.num_groups; ++other) {
        const auto at = static_cast<std::size_t>(other);
        if (other != group && (colocation < 0 || costed.colocation[at] != colocation)) continue;
        came_along += other != group && expected[at] != device ? 1 : 0;
        expected[at] = device;
      }
    }
    EXPECT_EQ(moving.Move({groups, device}), expected != placed->placement);
    EXPECT_EQ(moving.placement(), expected);
    moving.Undo();
    EXPECT_EQ(moving.placement(), placed->placement);
  }
  EXPECT_GT(stayed, 0);
  EXPECT_GT(came_along, 0);
}

TEST(MovingPlacement, ComesToEveryDeviceOfEveryGroupByChance) {
  Random random(3);
  std::optional<Placed> placed;
  while (!placed || placed->costed.num_groups < 10) placed = AnyPlaced(random);
  const CostedGraph& costed = placed->costed;
  const std::vector<ClusterLevel> levels = MovedClusters(costed);
  MovingPlacement moving(costed, levels, placed->placement);
  std::set<std::pair<int, int>> seen;
  for (int move = 0; move < 3000; ++move) {
    moving.MoveByChance(random);
    for (int group = 0; group < costed.num_groups; ++group)
      seen.emplace(group, moving.placement()[static_cast<std::size_t>(group)]);
  }
  std::size_t possible = 0;
  for (int group = 0; group < costed.num_groups; ++group) {
    for (int device = 0; device < costed.num_devices; ++device)
      possible += std::isfinite(costed.Seconds(group, device)) ? 1 : 0;
  }
  EXPECT_EQ(seen.size(), possible);
}

}  // namespace
}  // namespace millrace
