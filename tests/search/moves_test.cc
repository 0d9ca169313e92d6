// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/moves.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
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
  mix.sequence = mix.place = mix.jump = mix.join = mix.stretch = mix.path = mix.cluster = mix.swap = mix.twins = 0;
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

// Micro-batches of three stages, each op of which takes `seconds` of its batch; a stage's ops share a device.
CostedGraph Batches(const std::vector<double>& seconds) {
  GraphData data;
  constexpr int kStages = 3;
  for (std::size_t batch = 0; batch < seconds.size(); ++batch) {
    for (int stage = 0; stage < kStages; ++stage) {
      const int op = static_cast<int>(data.ops.size());
      data.ops.emplace_back();
      data.ops.back().seconds.everywhere = seconds[batch];
      data.ops.back().colocate = "stage" + std::to_string(stage);
      if (stage > 0) data.tensors.push_back({"t" + std::to_string(op), op - 1, {op}, 1, false});
    }
  }
  const ComputationGraph graph(std::move(data));
  return MakeCostedGraph(*MakeAnalyticCostModel(graph, *MachinePreset("homogeneous:2,bandwidth=1")),
                         SingleOpGroups(graph));
}

TEST(Moves, TwinsExchangeTheirPlacesAllTogether) {
  const CostedGraph costed = Batches({1, 2, 3});
  MoveMix mix = NoMove();
  mix.twins = 1;
  Random random(5);
  // Stage by stage, each batch after the one before.
  LivePlan plan(costed);
  plan.Start({std::vector<int>(9, 0), {0, 3, 1, 6, 4, 2, 7, 5, 8}});
  Moves moves(plan, mix);
  std::set<std::vector<int>> seen;
  for (int step = 0; step < 100; ++step) {
    moves.Draw(random);
    if (plan.changed()) seen.insert(plan.assignment().sequence);
    plan.TakeBack();
  }
  EXPECT_EQ(seen, (std::set<std::vector<int>>{
                      {3, 0, 4, 6, 1, 5, 7, 2, 8}, {6, 3, 7, 0, 4, 8, 1, 5, 2}, {0, 6, 1, 3, 7, 2, 4, 8, 5}}));
}

TEST(Moves, TwinsThatTakeTheSameTimeStayWhereTheyAre) {
  const CostedGraph costed = Batches({1, 1});
  MoveMix mix = NoMove();
  mix.twins = 1;
  Random random(6);
  LivePlan plan(costed);
  plan.Start({std::vector<int>(6, 0), {0, 3, 1, 4, 2, 5}});
  Moves moves(plan, mix);
  for (int step = 0; step < 100; ++step) {
    moves.Draw(random);
    EXPECT_FALSE(plan.changed());
  }
}

TEST(Moves, OfEveryKindLeaveAValidPlan) {
  Random random(4);
  for (int MoveMix::*kind : {&MoveMix::sequence, &MoveMix::place, &MoveMix::jump, &MoveMix::join, &MoveMix::stretch,
                             &MoveMix::path, &MoveMix::cluster, &MoveMix::swap, &MoveMix::twins}) {
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
