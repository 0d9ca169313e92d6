// SPDX-License-Identifier: Apache-2.0
#include "millrace/workloads/quantized_form.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "millrace/formats/onnx_import.h"
#include "millrace/formats/onnx_write.h"
#include "tests/workloads/small_models.h"

namespace millrace {
namespace {

std::int64_t CountOf(const Model& model, const std::string& op_type) {
  return std::count_if(model.nodes.begin(), model.nodes.end(),
                       [&op_type](const Node& node) { return node.op_type == op_type; });
}

Model Imported(const Model& model) {
  std::vector<std::string> warnings;
  return ImportOnnx(OnnxBytes(model), nullptr, {}, ShapeSource::kInference, warnings);
}

TEST(QuantizedForm, OfEveryNetworkIsAModelThatCanBeReadAgain) {
  for (const std::string& name : ModelNames()) {
    const Model model = MakeModel(name, SmallOptions(name));
    const Model joined = Imported(QuantizedForm(model));
    EXPECT_EQ(joined.inputs.size(), model.inputs.size()) << name;
    EXPECT_EQ(joined.outputs.size(), model.outputs.size()) << name;
  }
}

TEST(QuantizedForm, OfConvolutionsIsJoinedWithWhatFollowsThem) {
  const Model model = MakeModel("squeezenet", SmallOptions("squeezenet"));
  const Model joined = Imported(QuantizedForm(model));
  EXPECT_GT(CountOf(joined, "QLinearConv"), 20);
  EXPECT_EQ(CountOf(joined, "Conv"), 0);
  EXPECT_EQ(CountOf(joined, "Relu"), 0);
  EXPECT_LT(CountOf(joined, "DequantizeLinear"), 20);
}

TEST(QuantizedForm, OfConvolutionsTakesTheirClipsIn) {
  const Model joined = Imported(QuantizedForm(MakeModel("mobilenet_v2", SmallOptions("mobilenet_v2"))));
  EXPECT_EQ(CountOf(joined, "Conv"), 0);
  EXPECT_EQ(CountOf(joined, "Clip"), 0);
}

TEST(QuantizedForm, OfResidualBlocksAddsStoredNumbers) {
  const Model joined = Imported(QuantizedForm(MakeModel("resnet50", SmallOptions("resnet50"))));
  EXPECT_GE(CountOf(joined, "QLinearAdd"), 15);
  EXPECT_LE(CountOf(joined, "Add"), 1) << "the last, whose sum is averaged as it is";
}

TEST(QuantizedForm, OfProductsKeepsTheirAddends) {
  const Model towers = MakeModel("towers", SmallOptions("towers"));
  const Model joined = Imported(QuantizedForm(towers));
  ASSERT_GT(CountOf(joined, "QGemm"), 0);
  for (const Node& node : joined.nodes) {
    if (node.op_type != "QGemm") continue;
    EXPECT_EQ(node.domain, "com.microsoft");
    const bool stores = joined.values[static_cast<std::size_t>(node.outputs[0])].type != DataType::kFloat32;
    EXPECT_EQ(node.inputs.size(), stores ? 9u : 7u);
  }
  EXPECT_EQ(CountOf(joined, "Gemm"), 0) << "the last makes numbers";
  EXPECT_EQ(joined.foreign_opsets.at("com.microsoft"), 1);
  EXPECT_GT(CountOf(Imported(QuantizedForm(MakeModel("bert_base", SmallOptions("bert_base")))), "QLinearMatMul"), 0);
}

}  // namespace
}  // namespace millrace
