// SPDX-License-Identifier: Apache-2.0
#include "millrace/fusion/merged_fusion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/cost/costed_graph.h"
#include "millrace/fusion/greedy_fusion.h"
#include "millrace/machine/preset.h"
#include "millrace/plan/verify.h"
#include "tests/reference/random_problem.h"
#include "tests/reference/reading_graph.h"
#include "tests/reference/sanitized.h"
#include "tests/workloads/unrolled_training.h"

namespace millrace {
namespace {

FusionGroups Merged(const ComputationGraph& graph) {
  return MergedFusion(*MakeAnalyticCostModel(graph, *MachinePreset("p100x2")));
}

double LeastSeconds(const CostModel& model, const std::vector<OpId>& group) {
  double least = std::numeric_limits<double>::infinity();
  for (int device = 0; device < model.topology().num_devices; ++device)
    least = std::min(least, model.GroupSeconds(group, device));
  return least;
}

TEST(MergedFusion, PutsTheGatesOfACellIntoOneGroup) {
  const ComputationGraph cell(testing::Reading(
      {{"Split", {}}, {"Sigmoid", {0}}, {"Tanh", {0}}, {"Mul", {1, 2}}, {"Sigmoid", {0}}, {"Mul", {3, 4}}}));
  EXPECT_EQ(GreedyFusion(cell).size(), 4u);
  EXPECT_EQ(Merged(cell), (FusionGroups{{0}, {1, 2, 3, 4, 5}}));
}

TEST(MergedFusion, LeavesTwoProductsApart) {
  const ComputationGraph products(testing::Reading({{"MatMul", {}}, {"MatMul", {}}, {"Add", {0, 1}}, {"Relu", {2}}}));
  EXPECT_EQ(Merged(products).size(), 2u);
}

TEST(MergedFusion, LeavesGroupsApartBetweenWhichAPathLeadsThroughAnother) {
  const ComputationGraph around(testing::Reading({{"Conv", {}}, {"MaxPool", {0}}, {"Relu", {1}}, {"Add", {0, 2}}}));
  for (const std::vector<OpId>& group : Merged(around)) {
    const bool has_first = std::find(group.begin(), group.end(), 0) != group.end();
    EXPECT_FALSE(has_first && group.size() > 1);
  }
}

TEST(MergedFusion, JoinsOnlyWholeGreedyGroupsAndMakesLegalOrderableOnesOnRandomGraphs) {
  Random random(3);
  std::size_t joined = 0;
  for (int i = 0; i < testing::Rounds(2000); ++i) {
    testing::RandomProblemOptions options;
    options.most_ops = i % 10 == 0 ? 80 : 20;
    const ComputationGraph graph = testing::RandomGraph(random, options);
    const Machine machine = testing::RandomMachine(random, options);
    const auto model = MakeAnalyticCostModel(graph, machine);
    const FusionGroups greedy = GreedyFusion(*model);
    const FusionGroups merged = MergedFusion(*model);
    ASSERT_EQ(WhyNotGroups(graph, merged), std::nullopt) << "graph " << i;
    joined += greedy.size() - merged.size();
    std::vector<std::size_t> group_of(static_cast<std::size_t>(graph.num_ops()));
    for (std::size_t group = 0; group < merged.size(); ++group) {
      for (const OpId op : merged[group]) group_of[static_cast<std::size_t>(op)] = group;
    }
    // A part of a group may have a stated time that closes a device to it, which is not built upon.
    const bool stated = !graph.group_seconds().empty();
    for (const std::vector<OpId>& group : stated ? FusionGroups() : greedy) {
      for (const OpId op : group)
        ASSERT_EQ(group_of[static_cast<std::size_t>(op)], group_of[static_cast<std::size_t>(group.front())])
            << "graph " << i;
    }
    try {
      MakeCostedGraph(*model, greedy);
    } catch (const std::exception&) {
      continue;
    }
    ASSERT_NO_THROW(MakeCostedGraph(*model, merged)) << "graph " << i;
  }
  EXPECT_GT(joined, testing::Rounds(500u));
}

TEST(MergedFusion, MakesTheStepsOfAnUnrolledTrainingGraphShorter) {
  const ComputationGraph graph = testing::UnrolledTraining();
  const auto model = MakeAnalyticCostModel(graph, *MachinePreset("p100x2"));
  const auto seconds = [&model](const FusionGroups& groups) {
    double sum = 0;
    for (const std::vector<OpId>& group : groups) sum += LeastSeconds(*model, group);
    return sum;
  };
  const FusionGroups greedy = GreedyFusion(graph);
  const FusionGroups merged = MergedFusion(*model);
  EXPECT_LT(static_cast<double>(merged.size()), 0.9 * static_cast<double>(greedy.size()));
  EXPECT_LT(seconds(merged), seconds(greedy));
}

}  // namespace
}  // namespace millrace
