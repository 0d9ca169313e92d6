// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "millrace/errors/errors.h"
#include "millrace/formats/model_graph.h"
#include "millrace/formats/onnx_import.h"
#include "millrace/formats/onnx_move.h"
#include "millrace/formats/onnx_read.h"
#include "millrace/formats/onnx_small.h"
#include "millrace/formats/onnx_write.h"
#include "millrace/plan/hash.h"

// Against models and data that ONNX itself ships (package libonnx-testdata).
namespace millrace {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> CaseFolders(const std::string& kind) {
  const fs::path root = fs::path("/usr/share/libonnx-testdata/data") / kind;
  std::vector<fs::path> folders;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root, error)) {
    if (fs::exists(entry.path() / "model.onnx")) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

TEST(OnnxConformance, EveryModelIsTakenOrRefusedInOneLineAndSurvivesWriting) {
  int taken = 0;
  int refused = 0;
  for (const std::string kind : {"node", "simple", "pytorch-converted", "pytorch-operator"}) {
    for (const fs::path& folder : CaseFolders(kind)) {
      try {
        const Model model = ReadOnnx((folder / "model.onnx").string());
        const ComputationGraph graph = GraphOfModel(model);
        ++taken;
        if (taken % 10 != 0) continue;
        std::vector<std::string> warnings;
        const Model again = ImportOnnx(OnnxBytes(model), nullptr, {}, ShapeSource::kInference, warnings);
        EXPECT_EQ(GraphHash(graph), GraphHash(GraphOfModel(again))) << folder;
      } catch (const InvalidInput& error) {
        ++refused;
        EXPECT_THAT(error.what(), ::testing::Not(::testing::HasSubstr("\n"))) << folder;
        EXPECT_THAT(error.what(), ::testing::HasSubstr(folder.filename().string()));
      }
    }
  }
  if (taken + refused == 0) GTEST_SKIP() << "libonnx-testdata is not installed";
  std::cout << taken << " taken, " << refused << " refused\n";
  EXPECT_GT(taken, 20 * refused);
}

// Every node that constant folding can evaluate gives bit for bit what ONNX's own data says.
TEST(OnnxConformance, FoldingAgreesWithTheExpectedOutputs) {
  int agreed = 0;
  int others = 0;
  for (const fs::path& folder : CaseFolders("node")) {
    try {
      const Model model = ReadOnnx((folder / "model.onnx").string());
      if (model.nodes.size() != 1 || model.nodes[0].outputs.size() != 1) continue;
      const Node& node = model.nodes[0];
      std::vector<ConstantPointer> inputs;
      for (const int id : node.inputs) {
        const auto at = std::find(model.inputs.begin(), model.inputs.end(), id);
        if (at == model.inputs.end()) {
          inputs.push_back(nullptr);
          continue;
        }
        const std::string file = "input_" + std::to_string(at - model.inputs.begin()) + ".pb";
        inputs.push_back(ReadTensor((folder / "test_data_set_0" / file).string()));
      }
      if (inputs.empty() || inputs[0] == nullptr) continue;
      const ConstantPointer result =
          OnlyMoves(node) ? EvaluateMove(node, inputs) : EvaluateSmall(node, model.opset, inputs);
      if (result == nullptr) {
        ++others;
        continue;
      }
      const ConstantPointer expected = ReadTensor((folder / "test_data_set_0" / "output_0.pb").string());
      EXPECT_EQ(result->type(), expected->type()) << folder;
      EXPECT_EQ(result->shape(), expected->shape()) << folder;
      EXPECT_EQ(result->stored(), expected->stored()) << folder;
      ++agreed;
    } catch (const InvalidInput&) {
      ++others;
    }
  }
  if (agreed + others == 0) GTEST_SKIP() << "libonnx-testdata is not installed";
  std::cout << agreed << " cases evaluated, " << others << " not of the kind that is folded\n";
  EXPECT_GT(agreed, 80);
}

}  // namespace
}  // namespace millrace
