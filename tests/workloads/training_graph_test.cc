// SPDX-License-Identifier: Apache-2.0
#include "millrace/workloads/training_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>

#include "millrace/errors/errors.h"
#include "millrace/formats/model_graph.h"
#include "millrace/workloads/model_builder.h"
#include "tests/workloads/small_models.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::ThrowsMessage;
using ::testing::UnorderedElementsAre;

std::map<std::string, int> CountTypes(const ComputationGraph& graph) {
  std::map<std::string, int> counts;
  for (const Op& op : graph.ops()) ++counts[op.type];
  return counts;
}

const Op* FindOp(const ComputationGraph& graph, const std::string& name) {
  for (const Op& op : graph.ops()) {
    if (op.name == name) return &op;
  }
  return nullptr;
}

double Flops(const ComputationGraph& graph, const std::string& type) {
  double flops = 0;
  for (const Op& op : graph.ops()) flops += op.type == type ? op.flops : 0;
  return flops;
}

Model Perceptron() {
  ModelBuilder builder("perceptron", 13, {0, false});
  builder.BeginStage(0, "one");
  const int x = builder.Input("x", DataType::kFloat32, {8, 100});
  const int hidden = builder.Relu(builder.Gemm(x, 50, kReluGain));
  builder.BeginStage(1, "two");
  builder.Output(builder.Gemm(hidden, 10, kLinearGain), "logits");
  return builder.Finish();
}

TEST(TrainingGraph, OfAPerceptronHasTheOpsOfItsDerivation) {
  const ComputationGraph graph = TrainingGraphOf(Perceptron());
  EXPECT_THAT(CountTypes(graph),
              UnorderedElementsAre(Pair("Gemm", 2), Pair("Relu", 1), Pair("Variable", 4), Pair("ApplyAdam", 4),
                                   Pair("SoftmaxCrossEntropyLoss", 1), Pair("SoftmaxCrossEntropyLossGrad", 1),
                                   Pair("ReluGrad", 1), Pair("ReduceSum", 2),
                                   Pair("MatMul", 3)));  // none for the gradient of the input, which nobody asks for
  EXPECT_EQ(Flops(graph, "MatMul"), 2 * 8 * (100 * 50 + 2 * 50 * 10));
  EXPECT_EQ(FindOp(graph, "one/Gemm/grad/1")->layer, 0);
  EXPECT_EQ(FindOp(graph, "two/Gemm/grad/1")->layer, 1);
  EXPECT_EQ(FindOp(graph, "one/Gemm.weight/update")->layer, 0);
}

TEST(TrainingGraph, KeepsAWeightOnceWithTheOptimizersSlots) {
  const ComputationGraph graph = TrainingGraphOf(Perceptron());
  const Op* weight = FindOp(graph, "one/Gemm.weight");
  ASSERT_NE(weight, nullptr);
  EXPECT_EQ(weight->weight_bytes, 2 * 4 * 100 * 50);
  EXPECT_EQ(weight->flops, 0);
  const auto id = static_cast<OpId>(weight - graph.ops().data());
  ASSERT_EQ(graph.Outputs(id).size(), 1U);
  EXPECT_EQ(graph.tensor(graph.Outputs(id)[0]).bytes, 4 * 100 * 50);
  EXPECT_EQ(graph.Successors(id).size(), 2U);  // the forward Gemm and the update
  EXPECT_EQ(FindOp(graph, "one/Gemm")->weight_bytes, 0);
  EXPECT_EQ(FindOp(graph, "one/Gemm.weight/update")->bytes_accessed, 7 * 4 * 100 * 50);
}

TEST(TrainingGraph, TakesTwiceTheForwardFlopsBack) {
  ModelOptions options;
  options.draw_weights = false;
  options.batch = 32;
  const Model model = MakeModel("resnet50", options);
  const ComputationGraph forward = GraphOfModel(model);
  const ComputationGraph training = TrainingGraphOf(model);
  const auto total = [](const ComputationGraph& graph) {
    return std::accumulate(graph.ops().begin(), graph.ops().end(), 0.0,
                           [](double sum, const Op& op) { return sum + op.flops; });
  };
  EXPECT_NEAR(total(training) / total(forward), 3, 0.05);
}

TEST(TrainingGraph, AddsUpGradientsTwoAtATime) {
  ModelBuilder builder("fan", 13, {0, false});
  builder.BeginStage(0, "");
  const int x = builder.Input("x", DataType::kFloat32, {4, 6});
  const int weight = builder.Weight("w", {6, 6}, 6, kLinearGain);
  const int y = builder.MatMul(x, weight);
  const int three = builder.Concat({builder.Relu(y), builder.Elementwise("Tanh", y), builder.MatMul(y, weight)}, 1);
  builder.Output(three, "logits");
  const ComputationGraph graph = TrainingGraphOf(builder.Finish());
  const std::map<std::string, int> counts = CountTypes(graph);
  EXPECT_EQ(counts.at("Sum"), 3);     // two for y, one for the weight that is used twice
  EXPECT_EQ(counts.at("MatMul"), 5);  // forward: 2; back: 1 of the first, 2 of the second
  EXPECT_EQ(counts.at("Variable"), 1);
  EXPECT_EQ(counts.at("ApplyAdam"), 1);
}

TEST(TrainingGraph, SumsGradientsOverWhatWasBroadcast) {
  ModelBuilder builder("broadcast", 13, {0, false});
  builder.BeginStage(0, "");
  const int x = builder.Input("x", DataType::kFloat32, {4, 3, 6});
  const int product = builder.MatMul(x, builder.Weight("w", {6, 5}, 6, kLinearGain));
  const int scaled = builder.Elementwise("Mul", product, builder.UniformWeight("s", {5}, 0, 1));
  builder.Output(builder.Add(scaled, builder.UniformWeight("b", {3, 1}, 0, 1)), "logits");
  const ComputationGraph graph = TrainingGraphOf(builder.Finish());
  const std::map<std::string, int> counts = CountTypes(graph);
  EXPECT_EQ(counts.at("ReduceSum"), 2);
  EXPECT_EQ(counts.at("MatMul"), 2);  // the sum over the batch is within the product
  EXPECT_EQ(Flops(graph, "MatMul"), 2 * 2.0 * 4 * 3 * 5 * 6);
}

TEST(TrainingGraph, PassesNothingThroughStoppedGradients) {
  ModelBuilder builder("stopped", 13, {0, false});
  builder.BeginStage(0, "first");
  const int x = builder.Input("x", DataType::kFloat32, {4, 6});
  const int y = builder.Linear(x, 6, kLinearGain);
  const int memory = builder.StopGradient(builder.Elementwise("Tanh", y));
  builder.BeginStage(1, "second");
  builder.Output(builder.Linear(memory, 3, kLinearGain), "logits");
  const ComputationGraph graph = TrainingGraphOf(builder.Finish());
  const std::map<std::string, int> counts = CountTypes(graph);
  EXPECT_EQ(counts.at("ApplyAdam"), 2);  // second's weight and bias
  EXPECT_EQ(counts.at("Variable"), 4);
  EXPECT_EQ(counts.count("TanhGrad"), 0U);
}

TEST(TrainingGraph, RefusesAModelWithoutWeights) {
  ModelBuilder builder("bare", 13, {0, false});
  builder.BeginStage(0, "");
  builder.Output(builder.Relu(builder.Input("x", DataType::kFloat32, {4, 6})), "y");
  const Model model = builder.Finish();
  EXPECT_THAT([&] { TrainingGraphOf(model); },
              ThrowsMessage<InvalidInput>(HasSubstr("bare: no output depends on a weight")));
}

TEST(TrainingGraph, HoldsUnrolledWeightsOnce) {
  ModelOptions options = SmallOptions("rnnlm");
  const auto weights_of = [&options] {
    const ComputationGraph graph = TrainingGraphOf(MakeModel("rnnlm", options));
    double bytes = 0;
    for (const Op& op : graph.ops()) bytes += op.weight_bytes;
    return bytes;
  };
  const double once = weights_of();
  options.sequence = 3 * *options.sequence;
  EXPECT_EQ(weights_of(), once);
}

class EveryTrainingGraph : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryTrainingGraph, UpdatesEveryWeightOnceWhereItLies) {
  const ComputationGraph graph = TrainingGraphOf(MakeModel(GetParam(), SmallOptions(GetParam())));
  std::map<std::string, OpId> variables;
  std::set<std::string> updated;
  for (OpId id = 0; id < graph.num_ops(); ++id) {
    const Op& op = graph.op(id);
    EXPECT_TRUE(op.layer.has_value()) << op.name;
    if (op.type == "Variable") {
      EXPECT_TRUE(variables.emplace(op.colocate, id).second) << op.name;
    } else if (op.type == "ApplyAdam") {
      EXPECT_TRUE(updated.insert(op.colocate).second) << op.name;
      ASSERT_TRUE(variables.count(op.colocate)) << op.name;
      ASSERT_EQ(graph.Inputs(id).size(), 2U) << op.name;
      const TensorId weight = graph.Outputs(variables.at(op.colocate))[0];
      EXPECT_THAT(graph.Inputs(id), ::testing::Contains(weight)) << op.name;
      // The gradient has the weight's shape.
      for (const TensorId tensor : graph.Inputs(id)) EXPECT_EQ(graph.tensor(tensor).bytes, graph.tensor(weight).bytes);
    } else {
      EXPECT_EQ(op.colocate, "") << op.name;
    }
  }
  EXPECT_EQ(updated.size(), variables.size());
  EXPECT_GT(variables.size(), 0U);
}

TEST_P(EveryTrainingGraph, ComputesNothingInVainAndAddsLikeToLike) {
  const ComputationGraph graph = TrainingGraphOf(MakeModel(GetParam(), SmallOptions(GetParam())));
  std::set<std::string> names;
  for (const Op& op : graph.ops()) EXPECT_TRUE(names.insert(op.name).second) << op.name;
  names.clear();
  int outputs = 0;
  for (const Tensor& tensor : graph.tensors()) {
    EXPECT_TRUE(names.insert(tensor.name).second) << tensor.name;
    outputs += tensor.output;
    EXPECT_TRUE(tensor.output || !tensor.consumers.empty()) << tensor.name;
    EXPECT_GT(tensor.bytes, 0) << tensor.name;
  }
  EXPECT_EQ(outputs, 1);
  for (OpId id = 0; id < graph.num_ops(); ++id) {
    if (graph.op(id).type != "Sum") continue;
    for (const TensorId input : graph.Inputs(id)) {
      EXPECT_EQ(graph.tensor(input).bytes, graph.tensor(graph.Outputs(id)[0]).bytes) << graph.op(id).name;
    }
  }
}

TEST_P(EveryTrainingGraph, TakesEveryOpBetweenAWeightAndTheLossBack) {
  const Model model = MakeModel(GetParam(), SmallOptions(GetParam()));
  const ComputationGraph graph = TrainingGraphOf(model);
  std::map<std::string, OpId> ids;
  for (OpId id = 0; id < graph.num_ops(); ++id) ids[graph.op(id).name] = id;
  std::set<OpId> has_weight;
  for (const OpId id : graph.topological_order()) {
    bool reached = graph.op(id).type == "Variable";
    for (const OpId predecessor : graph.Predecessors(id)) reached |= has_weight.count(predecessor) != 0;
    if (reached && graph.op(id).name.find("stop_gradient") == std::string::npos) has_weight.insert(id);
  }
  std::set<std::string> taken_back;
  for (const Op& op : graph.ops()) {
    const std::size_t end = op.name.find("/grad");
    if (end != std::string::npos) taken_back.insert(op.name.substr(0, end));
  }
  const std::set<std::string> passes_on = {"Add", "Sum", "Sub", "Identity"};
  for (const Node& node : model.nodes) {
    if (passes_on.count(node.op_type) != 0 || has_weight.count(ids.at(node.name)) == 0) continue;
    EXPECT_TRUE(taken_back.count(node.name)) << node.name;
  }
}

TEST_P(EveryTrainingGraph, HasTheForwardOpsInTheirOrder) {
  const Model model = MakeModel(GetParam(), SmallOptions(GetParam()));
  const ComputationGraph graph = TrainingGraphOf(model);
  std::size_t next = 0;
  for (const Op& op : graph.ops()) {
    if (next < model.nodes.size() && op.name == model.nodes[next].name) ++next;
  }
  EXPECT_EQ(next, model.nodes.size());
  for (OpId i = 0; i < graph.num_ops(); ++i) EXPECT_EQ(graph.topological_order()[static_cast<std::size_t>(i)], i);
}

INSTANTIATE_TEST_SUITE_P(Models, EveryTrainingGraph, ::testing::ValuesIn(ModelNames()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace millrace
