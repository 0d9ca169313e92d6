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
#include "tests/reference/sanitized.h"

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

struct Counts {
  int taken = 0;
  int refused = 0;
  int evaluated = 0;
};

// Reads a test case's tensors for the node's inputs, nullptr where it has none. False where the package's own data is
// of another type than its model says.
bool InputsOf(const fs::path& folder, const Model& model, const Node& node, std::vector<ConstantPointer>& inputs) {
  for (const int id : node.inputs) {
    const auto at = std::find(model.inputs.begin(), model.inputs.end(), id);
    inputs.push_back(nullptr);
    if (at == model.inputs.end()) continue;
    const std::string file = "input_" + std::to_string(at - model.inputs.begin()) + ".pb";
    inputs.back() = ReadTensor((folder / "test_data_set_0" / file).string());
    if (inputs.back()->type() != model.values[static_cast<std::size_t>(id)].type) return false;
  }
  return !inputs.empty() && inputs[0] != nullptr;
}

// What constant folding makes of the case's only node is bit for bit what ONNX's own data says.
void CompareFolding(const fs::path& folder, const Model& model, Counts& counts) {
  if (model.nodes.size() != 1 || model.nodes[0].outputs.size() != 1) return;
  const Node& node = model.nodes[0];
  std::vector<ConstantPointer> inputs;
  ConstantPointer result;
  try {
    if (!InputsOf(folder, model, node, inputs)) return;
    result = OnlyMoves(node) ? EvaluateMove(node, inputs) : EvaluateSmall(node, model.opset, inputs);
  } catch (const InvalidInput&) {
    return;  // strings
  }
  if (result == nullptr) return;
  const ConstantPointer expected = ReadTensor((folder / "test_data_set_0" / "output_0.pb").string());
  const bool half = expected->type() == DataType::kFloat16 || expected->type() == DataType::kUint16;
  if (half && result->type() == DataType::kFloat32)
    return;  // widened, and so not rounded (the package's bfloat16 is uint16)
  EXPECT_EQ(result->type(), expected->type()) << folder;
  EXPECT_EQ(result->shape(), expected->shape()) << folder;
  EXPECT_EQ(result->stored(), expected->stored()) << folder;
  ++counts.evaluated;
}

TEST(OnnxConformance, EveryModelIsTakenAndSurvivesWritingOrIsRefusedInOneLine) {
  constexpr int kStep = testing::kSanitized ? 8 : 1;  // the runtime's tests import all
  Counts counts;
  int seen = 0;
  for (const std::string kind : {"node", "simple", "pytorch-converted", "pytorch-operator"}) {
    for (const fs::path& folder : CaseFolders(kind)) {
      if (++seen % kStep != 0) continue;
      try {
        const Model model = ReadOnnx((folder / "model.onnx").string());
        const ComputationGraph graph = GraphOfModel(model);
        ++counts.taken;
        if (kind == "node") CompareFolding(folder, model, counts);
        if (counts.taken % 10 != 0) continue;
        std::vector<std::string> warnings;
        const Model again = ImportOnnx(OnnxBytes(model), nullptr, {}, ShapeSource::kInference, warnings);
        EXPECT_EQ(GraphHash(graph), GraphHash(GraphOfModel(again))) << folder;
      } catch (const InvalidInput& error) {
        ++counts.refused;
        EXPECT_THAT(error.what(), ::testing::Not(::testing::HasSubstr("\n"))) << folder;
        EXPECT_THAT(error.what(), ::testing::HasSubstr(folder.filename().string()));
      }
    }
  }
  if (counts.taken + counts.refused == 0)
    FAIL() << "libonnx-testdata is not installed; script/bootstrap --test installs it";
  std::cout << counts.taken << " taken, " << counts.refused << " refused; folding agreed on " << counts.evaluated
            << " nodes\n";
  EXPECT_GT(counts.taken, 20 * counts.refused);
  EXPECT_GT(counts.evaluated, testing::kSanitized ? 0 : 120);
}

}  // namespace
}  // namespace millrace
