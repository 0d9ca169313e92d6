// SPDX-License-Identifier: Apache-2.0

#include "millrace/formats/model_graph.h"
#include "millrace/formats/onnx_read.h"
#include "millrace/formats/onnx_write.h"
#include "millrace/workloads/models.h"
#include "tests/reference/temporary_folder.h"
#include "tests/workloads/small_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace {
namespace {

// Names and shapes of the values in this order, constants told apart.
using Described = std::vector<std::tuple<std::string, DataType, Shape, bool>>;

Described Describe(const Model& model, const std::vector<int>& ids) {
  Described described;
  for (const int id : ids) {
    if (id == -1) {
      described.emplace_back("", DataType::kBool, Shape{}, false);
      continue;
    }
    const Value& value = model.values[static_cast<std::size_t>(id)];
    described.emplace_back(value.name, value.type, value.shape, value.constant != nullptr);
  }
  return described;
}

// Of the kinds that builders use: numbers, strings and lists.
bool SameAttribute(const Attribute& a, const Attribute& b) {
  return a.index() == b.index() && std::visit(
                                       [&b](const auto& held) {
                                         using Held = std::decay_t<decltype(held)>;
                                         if constexpr (std::is_same_v<Held, Subgraph>) {
                                           return false;
                                         } else {
                                           return held == std::get<Held>(b);
                                         }
                                       },
                                       a);
}

void ExpectSameModel(const Model& written, const Model& read) {
  EXPECT_EQ(read.name, written.name);
  EXPECT_EQ(read.opset, written.opset);
  EXPECT_EQ(Describe(read, read.inputs), Describe(written, written.inputs));
  EXPECT_EQ(Describe(read, read.outputs), Describe(written, written.outputs));
  ASSERT_EQ(read.nodes.size(), written.nodes.size());
  for (std::size_t i = 0; i < written.nodes.size(); ++i) {
    const Node& before = written.nodes[i];
    const Node& after = read.nodes[i];
    EXPECT_EQ(after.name, before.name);
    EXPECT_EQ(after.op_type, before.op_type);
    EXPECT_EQ(after.layer, before.layer) << before.name;
    // Shapes of what was read come from libonnx's inference.
    EXPECT_EQ(Describe(read, after.inputs), Describe(written, before.inputs)) << before.name;
    EXPECT_EQ(Describe(read, after.outputs), Describe(written, before.outputs)) << before.name;
    ASSERT_EQ(after.attributes.size(), before.attributes.size()) << before.name;
    for (const auto& [name, attribute] : before.attributes) {
      ASSERT_TRUE(after.attributes.count(name)) << before.name << ": " << name;
      EXPECT_TRUE(SameAttribute(after.attributes.at(name), attribute)) << before.name << ": " << name;
    }
    for (std::size_t k = 0; k < before.inputs.size(); ++k) {
      if (before.inputs[k] == -1) continue;
      const Value& value = written.values[static_cast<std::size_t>(before.inputs[k])];
      if (!value.constant) continue;
      const Value& other = read.values[static_cast<std::size_t>(after.inputs[k])];
      std::vector<std::byte> wanted(value.constant->bytes());
      std::vector<std::byte> found(other.constant->bytes());
      value.constant->CopyTo(wanted.data());
      other.constant->CopyTo(found.data());
      EXPECT_TRUE(wanted == found) << value.name;
    }
  }
}

// There and back. The reader infers shapes with libonnx and takes the file's own only where that is stuck.
void ExpectSameAfterWriting(const Model& model) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.Path("model.onnx");
  WriteOnnx(model, path);
  std::vector<std::string> warnings;
  const Model read = ReadOnnx(path, {}, &warnings);
  EXPECT_THAT(warnings, ::testing::IsEmpty());
  ExpectSameModel(model, read);
  const ComputationGraph built_graph = GraphOfModel(model);
  const ComputationGraph read_graph = GraphOfModel(read);
  EXPECT_EQ(built_graph.ops(), read_graph.ops());
  EXPECT_EQ(built_graph.tensors(), read_graph.tensors());
  EXPECT_EQ(built_graph.num_ops(), static_cast<int>(model.nodes.size()));
}

class WrittenModel : public ::testing::TestWithParam<std::string> {};

TEST_P(WrittenModel, ReadsBackTheSame) { ExpectSameAfterWriting(MakeModel(GetParam(), SmallOptions(GetParam()))); }

INSTANTIATE_TEST_SUITE_P(Models, WrittenModel, ::testing::ValuesIn(ModelNames()),
                         [](const auto& info) { return info.param; });

TEST(WrittenModels, ReadBackTheSameWithNormalizationInPieces) {
  for (const std::string name : {"inception_v3", "resnet50", "mobilenet_v2"}) {
    ModelOptions options = SmallOptions(name);
    options.keep_batch_normalization = true;
    ExpectSameAfterWriting(MakeModel(name, options));
  }
  ModelOptions options = SmallOptions("bert_base");
  options.split_layer_normalization = true;
  ExpectSameAfterWriting(MakeModel("bert_base", options));
}

TEST(WrittenModels, ReadBackTheSameInOneChunk) {
  ModelOptions options = SmallOptions("lstm_lm");
  options.chunks = 1;
  ExpectSameAfterWriting(MakeModel("lstm_lm", options));
}

}  // namespace
}  // namespace millrace
