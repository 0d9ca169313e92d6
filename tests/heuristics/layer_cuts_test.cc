// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/layer_cuts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/heuristics/layer_blocks.h"
#include "millrace/heuristics/placements.h"
#include "millrace/machine/preset.h"
#include "millrace/plan/verify.h"
#include "millrace/simulate/timeline.h"
#include "tests/reference/costed_problem.h"
#include "tests/reference/offers.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

TEST(LayerCuts, AreNeverBehindTheExpertAndOftenAheadOfIt) {
  Random random(51);
  int ahead = 0;
  for (int round = 0; round < 200; ++round) {
    testing::RandomProblemOptions options;
    options.most_ops = 40;
    const testing::CostedProblem problem(random, options);
    const std::vector<Assignment> offers = testing::Offers(*MakeLayerCuts(), problem.costed, {}, Random(1));
    ASSERT_EQ(offers.size(), 1u);
    const Plan plan{problem.costed.groups, offers.front().placement, offers.front().sequence};
    ASSERT_EQ(WhyNotValid(problem.graph, problem.machine, plan), std::nullopt) << round;
    const double makespan = Simulator(problem.costed).Makespan(offers.front());
    const double expert = ScheduleExpert(problem.costed).makespan;
    EXPECT_LE(makespan, expert * (1 + 1e-9)) << round;
    ahead += makespan < expert * (1 - 1e-9) ? 1 : 0;
  }
  EXPECT_GT(ahead, 20);
}

TEST(LayerCuts, LeaveDevicesIdleWhereThatIsFaster) {
  // A chain of four layers whose tensors take longer to move than to compute.
  GraphData data;
  for (int op = 0; op < 4; ++op) {
    data.ops.emplace_back();
    data.ops.back().name = "op" + std::to_string(op);
    data.ops.back().type = "Conv";
    data.ops.back().seconds.everywhere = 1;
    data.ops.back().layer = op;
    if (op > 0) data.tensors.back().consumers.push_back(op);
    Tensor made;
    made.producer = op;
    made.bytes = 5e9;
    data.tensors.push_back(made);
  }
  const ComputationGraph graph(data);
  const auto model = MakeAnalyticCostModel(graph, *MachinePreset("homogeneous:4,latency=0,bandwidth=1e9"));
  const CostedGraph costed = MakeCostedGraph(*model, SingleOpGroups(graph));
  EXPECT_EQ(ScheduleExpert(costed).makespan, 19);
  const std::vector<Assignment> offers = testing::Offers(*MakeLayerCuts(), costed, {}, Random(1));
  EXPECT_EQ(Simulator(costed).Makespan(offers.front()), 4);
}

TEST(LayerBlocks, AreConsecutiveAndUseNoMoreDevicesThanAsked) {
  Random random(52);
  for (int round = 0; round < 100; ++round) {
    const testing::CostedProblem problem(random);
    const LayerBlocks blocks(problem.costed);
    for (int devices = 1; devices <= blocks.num_devices(); ++devices) {
      const std::vector<int> of_layer = blocks.Balanced(devices);
      ASSERT_EQ(static_cast<int>(of_layer.size()), blocks.num_layers());
      EXPECT_TRUE(std::is_sorted(of_layer.begin(), of_layer.end()));
      EXPECT_LT(of_layer.back(), devices);
    }
    EXPECT_EQ(blocks.Placement(blocks.Balanced(blocks.num_devices())), PlaceByLayers(problem.costed));
  }
}

}  // namespace
}  // namespace millrace
