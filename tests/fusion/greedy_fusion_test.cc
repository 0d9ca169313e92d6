// SPDX-License-Identifier: Apache-2.0
#include "millrace/fusion/greedy_fusion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <string>

#include "millrace/cost/analytic_cost.h"
#include "millrace/cost/costed_graph.h"
#include "millrace/plan/verify.h"
#include "millrace/workloads/models.h"
#include "millrace/workloads/training_graph.h"
#include "tests/reference/random_problem.h"
#include "tests/reference/reading_graph.h"
#include "tests/reference/sanitized.h"

namespace millrace {
namespace {

class GraphBuilder {
 public:
  int Add(const std::string& type, const std::vector<int>& reads, double bytes = 8) {
    return testing::AddReading(data, type, reads, bytes);
  }
  ComputationGraph Build() const { return ComputationGraph(data); }

  GraphData data;
};

using Groups = FusionGroups;

TEST(GreedyFusion, FusesConvolutionBiasAndActivation) {
  GraphBuilder graph;
  graph.Add("Conv", {});
  graph.Add("Add", {0});
  graph.Add("Relu", {1});
  graph.Add("MaxPool", {2});
  graph.Add("Sigmoid", {3});
  EXPECT_EQ(GreedyFusion(graph.Build()), (Groups{{0, 1, 2}, {3}, {4}}));
}

TEST(GreedyFusion, GivesAResidualAddToTheLaterProducer) {
  GraphBuilder graph;
  graph.Add("Relu", {});
  graph.Add("Conv", {0});
  graph.Add("Relu", {1});
  graph.Add("Conv", {2});
  graph.Add("Add", {3, 0});
  graph.Add("Relu", {4});
  EXPECT_EQ(GreedyFusion(graph.Build()), (Groups{{0}, {1, 2}, {3, 4, 5}}));
}

TEST(GreedyFusion, GivesAnOpToTheProducerOfItsLargestTensor) {
  GraphBuilder graph;
  graph.Add("MatMul", {}, 100);
  graph.Add("Gemm", {}, 10);
  graph.Add("Add", {0, 1});
  EXPECT_EQ(GreedyFusion(graph.Build()), (Groups{{0, 2}, {1}}));
}

TEST(GreedyFusion, KeepsAnInnerTensorThatIsReadOutside) {
  GraphBuilder graph;
  graph.Add("Conv", {});
  graph.Add("Relu", {0});
  graph.Add("MaxPool", {0});
  EXPECT_EQ(GreedyFusion(graph.Build()), (Groups{{0, 1}, {2}}));
}

TEST(GreedyFusion, LeavesOutWhatWouldClosePathsIntoACycle) {
  // The Add reads the convolution directly and through an op that never fuses.
  GraphBuilder graph;
  graph.Add("Conv", {}, 100);
  graph.Add("MaxPool", {0}, 1);
  graph.Add("Add", {0, 1});
  EXPECT_EQ(GreedyFusion(graph.Build()), (Groups{{0}, {1}, {2}}));
}

TEST(GreedyFusion, LeavesGroupsAnOrderWhereTwoWouldDependOnEachOther) {
  // Were each Add to join its larger producer, both groups would wait for each other.
  GraphBuilder graph;
  graph.Add("Conv", {}, 100);
  graph.Add("Conv", {}, 100);
  graph.data.tensors.push_back({"small0", 0, {}, 1, false});
  graph.data.tensors.push_back({"small1", 1, {}, 1, false});
  graph.data.ops.resize(4);
  for (const int op : {2, 3}) graph.data.ops[static_cast<std::size_t>(op)].type = "Add";
  graph.data.tensors[0].consumers = {2};
  graph.data.tensors[3].consumers = {2};
  graph.data.tensors[1].consumers = {3};
  graph.data.tensors[2].consumers = {3};
  EXPECT_EQ(GreedyFusion(graph.Build()), (Groups{{0, 2, 3}, {1}}));
}

TEST(GreedyFusion, DoesNotHideAnOutputOfTheGraph) {
  GraphBuilder graph;
  graph.Add("Conv", {});
  graph.Add("Relu", {0});
  graph.data.tensors[0].output = true;
  EXPECT_EQ(GreedyFusion(graph.Build()), (Groups{{0}, {1}}));
}

TEST(GreedyFusion, StopsAtTheMostOpsAGroupMayHold) {
  GraphBuilder graph;
  graph.Add("Conv", {});
  for (int i = 0; i < 20; ++i) graph.Add("Relu", {i});
  const FusionGroups groups = GreedyFusion(graph.Build());
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].size(), 16u);
  EXPECT_EQ(groups[1].size(), 5u);
}

TEST(GreedyFusion, DoesNotTieOpsOfDifferentDevicesTogether) {
  GraphBuilder graph;
  graph.Add("Conv", {});
  graph.Add("Relu", {0});
  graph.data.ops[0].seconds.by_kind = {{"cpu", 1.0}, {"gpu", 1.0}};
  graph.data.ops[1].seconds.by_kind = {{"cpu", 1.0}, {"dsp", 1.0}};
  EXPECT_EQ(GreedyFusion(graph.Build()).size(), 2u);
  graph.data.ops[1].seconds.by_kind = {{"cpu", 1.0}};
  EXPECT_EQ(GreedyFusion(graph.Build()).size(), 1u);
  graph.data.ops[0].colocate = "a";
  EXPECT_EQ(GreedyFusion(graph.Build()).size(), 2u) << "the rest of the colocation may need a gpu";
  graph.data.ops[0].colocate = "";
  graph.data.group_seconds.push_back({{0, 1}, {std::nullopt, {{"gpu", 1.0}}}});
  EXPECT_EQ(GreedyFusion(graph.Build()).size(), 2u) << "the stated time leaves the group no device";
}

TEST(GreedyFusion, MakesLegalOrderableGroupsOnRandomGraphs) {
  Random random(1);
  std::size_t fused = 0;
  for (int i = 0; i < testing::Rounds(10000); ++i) {
    testing::RandomProblemOptions options;
    options.most_ops = i % 10 == 0 ? 80 : 20;
    const ComputationGraph graph = testing::RandomGraph(random, options);
    const FusionGroups groups = GreedyFusion(graph);
    ASSERT_EQ(WhyNotGroups(graph, groups), std::nullopt) << "graph " << i;
    fused += static_cast<std::size_t>(graph.num_ops()) - groups.size();
    const auto model = MakeAnalyticCostModel(graph, testing::RandomMachine(random, options));
    bool runs_unfused = true;
    try {
      MakeCostedGraph(*model, SingleOpGroups(graph));
    } catch (const std::exception&) {
      runs_unfused = false;
    }
    if (runs_unfused) {
      ASSERT_NO_THROW(MakeCostedGraph(*model, groups)) << "graph " << i;
    }
  }
  EXPECT_GT(fused, testing::Rounds(10000u));
}

TEST(GreedyFusion, FusesTheCellsOfAnUnrolledTrainingGraphAndTheirSumsOfGradients) {
  ModelOptions options;
  options.draw_weights = false;
  options.sequence = 6;
  const ComputationGraph graph = TrainingGraphOf(MakeModel("rnnlm", options));
  const FusionGroups groups = GreedyFusion(graph);
  EXPECT_LT(static_cast<double>(groups.size()), 0.5 * graph.num_ops());
  const auto is = [&graph](const std::vector<OpId>& group, const std::vector<std::string>& types) {
    return std::equal(group.begin(), group.end(), types.begin(), types.end(),
                      [&graph](OpId op, const std::string& type) { return graph.op(op).type == type; });
  };
  int accumulations = 0;
  for (const std::vector<OpId>& group : groups) {
    accumulations += is(group, {"MatMul", "Sum"});
    for (const OpId op : group) EXPECT_TRUE(group.size() == 1 || graph.op(op).colocate.empty()) << graph.op(op).name;
  }
  EXPECT_GE(accumulations, 2 * 2 * (6 - 1));  // two weights of two layers, at every step but the first
}

}  // namespace
}  // namespace millrace
