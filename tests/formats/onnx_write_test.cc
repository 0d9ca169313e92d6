// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/onnx_write.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "millrace/errors/errors.h"
#include "millrace/formats/model_graph.h"
#include "millrace/formats/onnx_import.h"
#include "millrace/plan/hash.h"
#include "tests/formats/onnx_sample.h"
#include "tests/reference/temporary_folder.h"

namespace millrace::testing {
namespace {

std::vector<std::byte> Elements(const ConstantData& constant) {
  std::vector<std::byte> bytes(constant.bytes());
  constant.CopyTo(bytes.data());
  return bytes;
}

TEST(OnnxWrite, GivesTheSameModelBackForRandomModels) {
  Random random(3);
  for (int trial = 0; trial < 25; ++trial) {
    const Model model = RandomModel(random, 1 + static_cast<int>(random.Below(30)));
    const Model again = Reread(model);
    const ComputationGraph before = GraphOfModel(model);
    const ComputationGraph after = GraphOfModel(again);
    ASSERT_EQ(GraphHash(before), GraphHash(after));
    EXPECT_EQ(before.ops(), after.ops());
    EXPECT_EQ(before.tensors(), after.tensors());
    EXPECT_EQ(model.metadata, again.metadata);
    EXPECT_EQ(model.opset, again.opset);
    for (std::size_t i = 0; i < model.nodes.size(); ++i) {
      EXPECT_EQ(model.nodes[i].name, again.nodes[i].name);
      EXPECT_EQ(model.nodes[i].attributes.size(), again.nodes[i].attributes.size());
      EXPECT_EQ(Model::IntOf(model.nodes[i], "axis", 7), Model::IntOf(again.nodes[i], "axis", 7));
      for (std::size_t k = 0; k < model.nodes[i].inputs.size(); ++k) {
        const Value& old_value = model.values[static_cast<std::size_t>(model.nodes[i].inputs[k])];
        const Value& new_value = again.values[static_cast<std::size_t>(again.nodes[i].inputs[k])];
        EXPECT_EQ(old_value.name, new_value.name);
        EXPECT_EQ(old_value.shape, new_value.shape);
        ASSERT_EQ(old_value.constant == nullptr, new_value.constant == nullptr);
        if (old_value.constant == nullptr) continue;
        EXPECT_EQ(Elements(*old_value.constant), Elements(*new_value.constant));
      }
    }
  }
}

TEST(OnnxWrite, KeepsFilledConstantsSmall) {
  Model model = Import(SmallNetwork().message);
  for (Value& value : model.values) {
    if (value.constant == nullptr || value.name == "w") continue;
    value.constant = ConstantData::Filled(DataType::kFloat32, value.shape, std::vector<std::byte>(4));
  }
  EXPECT_LT(OnnxBytes(model).size(), 2000u);
  EXPECT_EQ(GraphHash(GraphOfModel(Reread(model))), GraphHash(GraphOfModel(model)));
}

TEST(OnnxWrite, RefusesAModelOverTwoGigabytes) {
  Model model = Import(SmallNetwork().message);
  for (Value& value : model.values) {
    // bfloat16 has no ConstantOfShape, so this one would have to be written out.
    if (value.name == "m") {
      value.constant = ConstantData::Filled(DataType::kBfloat16, {1 << 16, 1 << 16}, std::vector<std::byte>(2));
    }
  }
  EXPECT_THROW(OnnxBytes(model), WorkFailed);
}

TEST(OnnxTensor, ComesBackFromItsFileForEveryType) {
  const TemporaryFolder folder;
  Random random(5);
  for (const DataType type : {DataType::kFloat32, DataType::kFloat64, DataType::kFloat16, DataType::kBfloat16,
                              DataType::kInt8, DataType::kInt16, DataType::kInt32, DataType::kInt64, DataType::kUint8,
                              DataType::kUint16, DataType::kUint32, DataType::kUint64, DataType::kBool}) {
    for (const Shape& shape : {Shape{}, Shape{3, 5}, Shape{2, 0, 3}}) {
      std::vector<std::byte> bytes(static_cast<std::size_t>(ElementsOf(shape)) * BytesOf(type));
      for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.Below(256));
      const auto tensor = ConstantData::Dense(type, shape, bytes);
      WriteTensor(*tensor, "t", folder.Path("t.pb"));
      const auto again = ReadTensor(folder.Path("t.pb"));
      EXPECT_EQ(again->type(), type);
      EXPECT_EQ(again->shape(), shape);
      EXPECT_EQ(again->stored(), bytes);
    }
  }
}

TEST(OnnxTensor, IsRefusedWhereTheFileIsNone) {
  const TemporaryFolder folder;
  for (const std::string& content : {std::string(), std::string("garbage"), std::string(100, '\xff')}) {
    folder.Write("t.pb", content);
    try {
      ReadTensor(folder.Path("t.pb"));
      ADD_FAILURE() << content;
    } catch (const InvalidInput& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr(folder.Path("t.pb")));
    }
  }
  EXPECT_THROW(ReadTensor(folder.Path("missing.pb")), InvalidInput);
}

}  // namespace
}  // namespace millrace::testing
