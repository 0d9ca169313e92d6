// SPDX-License-Identifier: Apache-2.0
#include "millrace/workloads/models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "millrace/errors/errors.h"
#include "millrace/formats/model_graph.h"
#include "tests/workloads/small_models.h"

namespace millrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Model GraphOnly(const std::string& name, ModelOptions options = {}) {
  options.draw_weights = false;
  return MakeModel(name, options);
}

// What training would change: floats, without the statistics of batch normalisation and scalars.
std::int64_t Parameters(const Model& model) {
  std::int64_t parameters = 0;
  for (const Value& value : model.values) {
    if (!value.constant || value.type != DataType::kFloat32 || value.shape.empty()) continue;
    if (value.name.find(".mean") != std::string::npos || value.name.find(".variance") != std::string::npos) continue;
    parameters += ElementsOf(value.shape);
  }
  return parameters;
}

const Shape& OutputShape(const Model& model, std::size_t output = 0) {
  return model.values[static_cast<std::size_t>(model.outputs.at(output))].shape;
}

int Count(const Model& model, const std::string& op_type) {
  int count = 0;
  for (const Node& node : model.nodes) count += node.op_type == op_type;
  return count;
}

bool SameNodes(const Model& a, const Model& b) {
  if (a.nodes.size() != b.nodes.size() || a.values.size() != b.values.size()) return false;
  for (std::size_t i = 0; i < a.nodes.size(); ++i) {
    if (a.nodes[i].op_type != b.nodes[i].op_type || a.nodes[i].inputs != b.nodes[i].inputs ||
        a.nodes[i].outputs != b.nodes[i].outputs) {
      return false;
    }
  }
  return true;
}

std::vector<float> AllWeights(const Model& model) {
  std::vector<float> all;
  for (const Value& value : model.values) {
    if (!value.constant || value.type != DataType::kFloat32) continue;
    const std::vector<float> floats = value.constant->AsFloats();
    all.insert(all.end(), floats.begin(), floats.end());
  }
  return all;
}

TEST(Models, HaveThePublishedNumberOfParameters) {
  ModelOptions unfolded;
  unfolded.keep_batch_normalization = true;
  EXPECT_EQ(Parameters(GraphOnly("inception_v3", unfolded)), 23'834'568);
  EXPECT_EQ(Parameters(GraphOnly("resnet50", unfolded)), 25'557'032);
  EXPECT_EQ(Parameters(GraphOnly("mobilenet_v2", unfolded)), 3'504'872);
  EXPECT_EQ(Parameters(GraphOnly("squeezenet")), 1'235'496);
  ModelOptions full_length;
  full_length.sequence = 512;
  EXPECT_EQ(Parameters(GraphOnly("bert_base", full_length)), 109'482'240);
  EXPECT_EQ(Parameters(GraphOnly("lstm_lm")), 10000 * 650 + 2 * (8 * 650 * 650 + 8 * 650) + 650 * 10000 + 10000);
  EXPECT_EQ(Parameters(GraphOnly("towers")), 8 * 4 * (256 * 256 + 256));
}

TEST(Models, FoldedNormalizationLeavesOneBiasForEachChannel) {
  ModelOptions unfolded;
  unfolded.keep_batch_normalization = true;
  for (const std::string name : {"inception_v3", "resnet50", "mobilenet_v2"}) {
    const Model kept = GraphOnly(name, unfolded);
    const Model folded = GraphOnly(name);
    EXPECT_EQ(Count(kept, "BatchNormalization"), Count(kept, "Conv"));
    EXPECT_EQ(Count(folded, "BatchNormalization"), 0);
    std::int64_t channels = 0;
    for (const Node& node : kept.nodes) {
      if (node.op_type == "Conv") channels += kept.values[static_cast<std::size_t>(node.outputs[0])].shape[1];
    }
    EXPECT_EQ(Parameters(kept) - Parameters(folded), channels);
  }
}

TEST(Models, HaveThePublishedLayers) {
  EXPECT_EQ(Count(GraphOnly("inception_v3"), "Conv"), 94);
  EXPECT_EQ(Count(GraphOnly("resnet50"), "Conv"), 53);
  EXPECT_EQ(Count(GraphOnly("resnet50"), "Add"), 16);
  EXPECT_EQ(Count(GraphOnly("squeezenet"), "Conv"), 26);
  EXPECT_EQ(Count(GraphOnly("mobilenet_v2"), "Conv"), 52);
  EXPECT_EQ(Count(GraphOnly("mobilenet_v2"), "Add"), 10);
  EXPECT_EQ(Count(GraphOnly("bert_base"), "Softmax"), 12);
  EXPECT_EQ(Count(GraphOnly("bert_base"), "LayerNormalization"), 25);
  EXPECT_EQ(Count(GraphOnly("lstm_lm"), "LSTM"), 2);
  EXPECT_EQ(Count(GraphOnly("towers"), "Gemm"), 32);
  ModelOptions deep;
  deep.layers = 101;
  EXPECT_EQ(Count(GraphOnly("resnet50", deep), "Conv"), 104);
}

TEST(Models, GiveTheOutputsTheirSizesAskFor) {
  for (const std::string name : {"inception_v3", "resnet50", "squeezenet", "mobilenet_v2"}) {
    ModelOptions options;
    options.batch = 4;
    EXPECT_THAT(OutputShape(GraphOnly(name, options)), ElementsAre(4, 1000)) << name;
  }
  ModelOptions bert;
  bert.batch = 2;
  bert.sequence = 40;
  EXPECT_THAT(OutputShape(GraphOnly("bert_base", bert), 0), ElementsAre(2, 40, 768));
  EXPECT_THAT(OutputShape(GraphOnly("bert_base", bert), 1), ElementsAre(2, 768));
  ModelOptions lstm;
  lstm.batch = 3;
  lstm.chunks = 5;
  EXPECT_THAT(OutputShape(GraphOnly("lstm_lm", lstm)), ElementsAre(35, 3, 10000));
  EXPECT_EQ(Count(GraphOnly("lstm_lm", lstm), "LSTM"), 10);
  EXPECT_THAT(OutputShape(GraphOnly("towers")), ElementsAre(16, 2048));
}

TEST(Models, ReachTheFeatureMapsOfThePapers) {
  // The input of the last pooling.
  const auto last_map = [](const Model& model) {
    for (const Node& node : model.nodes) {
      if (node.op_type == "GlobalAveragePool") return model.values[static_cast<std::size_t>(node.inputs[0])].shape;
    }
    return Shape{};
  };
  EXPECT_THAT(last_map(GraphOnly("inception_v3")), ElementsAre(1, 2048, 8, 8));
  EXPECT_THAT(last_map(GraphOnly("resnet50")), ElementsAre(1, 2048, 7, 7));
  EXPECT_THAT(last_map(GraphOnly("squeezenet")), ElementsAre(1, 1000, 13, 13));
  EXPECT_THAT(last_map(GraphOnly("mobilenet_v2")), ElementsAre(1, 1280, 7, 7));
}

class EveryModel : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryModel, IsInOrderAndWhole) {
  const Model model = MakeModel(GetParam(), SmallOptions(GetParam()));
  std::set<std::string> value_names, node_names;
  for (std::size_t i = 0; i < model.values.size(); ++i) {
    const Value& value = model.values[i];
    EXPECT_TRUE(value_names.insert(value.name).second) << value.name;
    if (value.constant) {
      EXPECT_EQ(value.constant->shape(), value.shape);
      EXPECT_EQ(value.constant->type(), value.type);
      EXPECT_EQ(value.producer, -1);
    }
  }
  std::vector<int> readers(model.values.size());
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    const Node& node = model.nodes[i];
    EXPECT_TRUE(node_names.insert(node.name).second) << node.name;
    EXPECT_TRUE(node.layer.has_value());
    bool reads_a_tensor = false;
    for (const int input : node.inputs) {
      if (input == -1) continue;
      ASSERT_LT(static_cast<std::size_t>(input), model.values.size());
      const Value& value = model.values[static_cast<std::size_t>(input)];
      EXPECT_LT(value.producer, static_cast<int>(i));
      reads_a_tensor |= value.constant == nullptr;
      ++readers[static_cast<std::size_t>(input)];
    }
    EXPECT_TRUE(reads_a_tensor) << node.name << " could be folded into a constant";
    for (const int output : node.outputs) {
      EXPECT_EQ(model.values[static_cast<std::size_t>(output)].producer, static_cast<int>(i));
    }
  }
  for (const int output : model.outputs) ++readers[static_cast<std::size_t>(output)];
  for (std::size_t i = 0; i < model.values.size(); ++i) {
    EXPECT_GT(readers[i], 0) << model.values[i].name << " is read by nobody";
  }
}

TEST_P(EveryModel, IsTheSameForTheSameSeedAndHasOtherWeightsForAnother) {
  ModelOptions options = SmallOptions(GetParam());
  options.seed = 11;
  const Model first = MakeModel(GetParam(), options);
  const Model again = MakeModel(GetParam(), options);
  options.seed = 12;
  const Model other = MakeModel(GetParam(), options);
  EXPECT_TRUE(SameNodes(first, again));
  EXPECT_TRUE(SameNodes(first, other));
  EXPECT_EQ(AllWeights(first), AllWeights(again));
  EXPECT_NE(AllWeights(first), AllWeights(other));
}

TEST_P(EveryModel, HasTheSameNodesWithAndWithoutDrawnWeights) {
  const ModelOptions options = SmallOptions(GetParam());
  const Model drawn = MakeModel(GetParam(), options);
  const Model graph = GraphOnly(GetParam(), options);
  EXPECT_TRUE(SameNodes(drawn, graph));
  for (std::size_t i = 0; i < drawn.values.size(); ++i) EXPECT_EQ(drawn.values[i].shape, graph.values[i].shape);
  EXPECT_EQ(GraphOfModel(drawn).ops(), GraphOfModel(graph).ops());
  EXPECT_EQ(GraphOfModel(drawn).tensors(), GraphOfModel(graph).tensors());
}

TEST_P(EveryModel, DrawsWeightsAroundZeroThatDiffer) {
  const Model model = MakeModel(GetParam(), SmallOptions(GetParam()));
  for (const Value& value : model.values) {
    if (!value.constant || value.type != DataType::kFloat32 || ElementsOf(value.shape) < 1000) continue;
    const std::vector<float> weights = value.constant->AsFloats();
    double sum = 0;
    double squares = 0;
    for (const float weight : weights) {
      ASSERT_TRUE(std::isfinite(weight));
      sum += weight;
      squares += static_cast<double>(weight) * weight;
    }
    const auto count = static_cast<double>(weights.size());
    EXPECT_NEAR(sum / count, 0, 5 * std::sqrt(squares) / count) << value.name;
    EXPECT_GT(std::set<float>(weights.begin(), weights.end()).size(), weights.size() / 2) << value.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, EveryModel, ::testing::ValuesIn(ModelNames()),
                         [](const auto& info) { return info.param; });

TEST(Models, SplitLayerNormalizationUsesNoOperatorOfOpset17) {
  ModelOptions options = SmallOptions("bert_base");
  EXPECT_EQ(GraphOnly("bert_base", options).opset, 17);
  options.split_layer_normalization = true;
  const Model split = GraphOnly("bert_base", options);
  EXPECT_EQ(split.opset, 13);
  EXPECT_EQ(Count(split, "LayerNormalization"), 0);
  EXPECT_EQ(Count(split, "ReduceMean"), 2 * 5);
}

TEST(Models, RefuseSizesTheyDoNotHaveInOneLine) {
  const auto refuses = [](const std::string& name, auto change, const std::string& words) {
    ModelOptions options;
    change(options);
    EXPECT_THAT([&] { GraphOnly(name, options); }, ThrowsMessage<InvalidInput>(HasSubstr(words)));
  };
  const auto nothing = [](ModelOptions&) {};
  refuses("alexnet", nothing, "'alexnet' is no model; there are inception_v3, resnet50, squeezenet");
  refuses(
      "resnet50", [](ModelOptions& o) { o.hidden = 5; }, "resnet50 has no hidden; it takes batch, image");
  refuses(
      "towers", [](ModelOptions& o) { o.width = 0.5; }, "towers has no width");
  refuses(
      "squeezenet", [](ModelOptions& o) { o.keep_batch_normalization = true; }, "no batch-normalization");
  refuses(
      "resnet50", [](ModelOptions& o) { o.layers = 49; }, "50, 101 or 152 layers, not 49");
  refuses(
      "resnet50", [](ModelOptions& o) { o.batch = 0; }, "batch");
  refuses(
      "resnet50", [](ModelOptions& o) { o.batch = std::int64_t{1} << 40; }, "batch");
  refuses(
      "resnet50", [](ModelOptions& o) { o.width = -1; }, "width");
  refuses(
      "resnet50", [](ModelOptions& o) { o.width = std::nan(""); }, "width");
  refuses(
      "inception_v3", [](ModelOptions& o) { o.image = 60; }, "make the image or the sequence larger");
  refuses(
      "squeezenet", [](ModelOptions& o) { o.image = 10; }, "make the image or the sequence larger");
  refuses(
      "bert_base", [](ModelOptions& o) { o.heads = 7; }, "768 does not split into 7 heads");
  refuses(
      "bert_base", [](ModelOptions& o) { o.hidden = o.heads = 1 << 20; }, "make the model smaller");
  refuses(
      "resnet50", [](ModelOptions& o) { o.image = o.batch = 1 << 20; }, "make the model smaller");
  refuses(
      "bert_base", [](ModelOptions& o) { o.layers = 1 << 20; }, "make the model smaller");
  refuses(
      "towers", [](ModelOptions& o) { o.towers = o.layers = 1 << 20; }, "make the model smaller");
  refuses(
      "lstm_lm", [](ModelOptions& o) { o.chunks = 36; }, "no 36 chunks");
}

TEST(Models, RefuseDrawnWeightsThatNoOnnxFileHolds) {
  ModelOptions options;
  options.vocabulary = 1 << 20;
  EXPECT_THAT([&] { MakeModel("bert_base", options); }, ThrowsMessage<InvalidInput>(HasSubstr("an ONNX file holds")));
  EXPECT_EQ(OutputShape(GraphOnly("bert_base", options)).back(), 768);
}

}  // namespace
}  // namespace millrace
