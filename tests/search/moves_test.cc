// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/moves.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/machine/preset.h"
#include "millrace/plan/verify.h"
#include "tests/reference/costed_problem.h"

namespace millrace {
namespace {

// Draws no kind; a test sets the one it is about.
MoveMix NoMove() {
  MoveMix mix;
  mix.sequence = mix.place = mix.jump = mix.join = mix.stretch = mix.path = mix.cluster = mix.swap = 0;
  return mix;
}

// Two chains of eight groups. Inside a chain every tensor takes as long as `bytes` say on a link of 1 byte/s.
CostedGraph TwoChains(double bytes) {
  GraphData data;
  constexpr int kLength = 8;
  data.ops.resize(2 * kLength);
  for (Op& op : data.ops) op.seconds.everywhere = 1.0;
  for (int op = 0; op + 1 < 2 * kLength; ++op) {
    if (op + 1 != kLength) data.tensors.push_back({"t" + std::to_string(op), op, {op + 1}, bytes, false});
  }
  const ComputationGraph graph(std::move(data));
  return MakeCostedGraph(*MakeAnalyticCostModel(graph, *MachinePreset("homogeneous:2,bandwidth=1")),
                         SingleOpGroups(graph));
}

Assignment AllOnTheFirst(const CostedGraph& costed) {
  return {std::vector<int>(static_cast<std::size_t>(costed.num_groups), 0), costed.topological_order};
}

std::set<int> MovedBy(const LivePlan& plan) {
  std::set<int> moved;
  for (int group = 0; group < plan.costed().num_groups; ++group) {
    if (plan.Device(group) != 0) moved.insert(group);
  }
  return moved;
}

TEST(Moves, AClusterHoldsTogetherWhatHasDearTransfers) {
  const CostedGraph costed = TwoChains(1e9);
  MoveMix mix = NoMove();
  mix.cluster = 1;
  Random random(1);
  LivePlan plan(costed);
  plan.Start(AllOnTheFirst(costed));
  Moves moves(plan, mix);
  std::size_t largest = 0;
  for (int step = 0; step < 200; ++step) {
    moves.Draw(random);
    const std::set<int> moved = MovedBy(plan);
    if (!moved.empty()) {
      EXPECT_TRUE(*moved.rbegin() < 8 || *moved.begin() >= 8) << "one chain alone";
      EXPECT_EQ(*moved.rbegin() - *moved.begin() + 1, static_cast<int>(moved.size())) << "without a gap";
    }
    largest = std::max(largest, moved.size());
    plan.TakeBack();
  }
  EXPECT_EQ(largest, 4U) << "a quarter of all groups now and then";
}

TEST(Moves, AClusterIsOneGroupWhereTransfersAreFree) {
  const CostedGraph costed = TwoChains(0);
  MoveMix mix = NoMove();
  mix.cluster = 1;
  Random random(2);
  LivePlan plan(costed);
  plan.Start(AllOnTheFirst(costed));
  Moves moves(plan, mix);
  for (int step = 0; step < 100; ++step) {
    moves.Draw(random);
    EXPECT_LE(MovedBy(plan).size(), 1U);
    plan.TakeBack();
  }
}

TEST(Moves, AnExchangeLeavesEveryDeviceAsManyGroups) {
  const CostedGraph costed = TwoChains(1);
  MoveMix mix = NoMove();
  mix.swap = 1;
  Random random(3);
  Assignment start = AllOnTheFirst(costed);
  for (std::size_t group = 0; group < 5; ++group) start.placement[group] = 1;
  LivePlan plan(costed);
  plan.Start(start);
  Moves moves(plan, mix);
  int exchanges = 0;
  for (int step = 0; step < 200; ++step) {
    moves.Draw(random);
    const std::vector<int>& now = plan.assignment().placement;
    EXPECT_EQ(std::count(now.begin(), now.end(), 1), 5);
    exchanges += plan.changed() ? 1 : 0;
    plan.TakeBack();
  }
  EXPECT_GT(exchanges, 50);
}

TEST(Moves, OfEveryKindLeaveAValidPlan) {
  Random random(4);
  for (int MoveMix::*kind : {&MoveMix::sequence, &MoveMix::place, &MoveMix::jump, &MoveMix::join, &MoveMix::stretch,
                             &MoveMix::path, &MoveMix::cluster, &MoveMix::swap}) {
    MoveMix mix = NoMove();
    mix.*kind = 1;
    for (int round = 0; round < 30; ++round) {
      const testing::CostedProblem problem(random);
      LivePlan plan(problem.costed);
      plan.Start(problem.Start(random));
      Moves moves(plan, mix);
      for (int step = 0; step < 30; ++step) {
        moves.Draw(random);
        const Plan changed{problem.costed.groups, plan.assignment().placement, plan.assignment().sequence};
        ASSERT_EQ(WhyNotValid(problem.graph, problem.machine, changed), std::nullopt);
        if (!plan.changed()) continue;
        plan.Price(1e300);
        plan.Keep();
      }
    }
  }
}

}  // namespace
}  // namespace millrace
