// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/formats/onnx_read.h"
#include "tests/reference/sanitized.h"
#include "tests/runtime/kernel_harness.h"

// The cases of the package libonnx-testdata: what PyTorch exported once, and models of one op (or the few it expands
// to) with inputs and expected outputs. An op that the runtime claims to execute has to give what the case expects, on
// one worker and on two, from plain tensors and from blocked ones. MILLRACE_ONNX_NODE_CASES names a folder of such
// models from another version of ONNX, to check those instead.
namespace millrace {
namespace {

namespace fs = std::filesystem;
using millrace::testing::HarnessOptions;
using millrace::testing::RunGroup;
using millrace::testing::TensorData;

const fs::path kCases = "/usr/share/libonnx-testdata/data";

std::vector<TensorData> ReadTensors(const fs::path& folder, const std::string& prefix) {
  std::vector<TensorData> tensors;
  for (int i = 0;; ++i) {
    const fs::path file = folder / (prefix + std::to_string(i) + ".pb");
    if (!fs::exists(file)) return tensors;
    tensors.push_back(ReadTensor(file.string()));
  }
}

std::size_t Failures() {
  const ::testing::TestResult* result = ::testing::UnitTest::GetInstance()->current_test_info()->result();
  return static_cast<std::size_t>(result->total_part_count());
}

// Halves keep 11 or 8 bits, and models in them are computed in float32.
float ToleranceOf(DataType type) {
  if (type == DataType::kBfloat16) return 1e-2f;
  return type == DataType::kFloat16 ? 2e-3f : 1e-3f;
}

bool IsFloat(DataType type) { return type == DataType::kFloat32 || type == DataType::kFloat64; }

// What differs, or nothing.
std::string Difference(const TensorData& actual, const TensorData& stored) {
  const float tolerance = ToleranceOf(stored->type());
  const TensorData expected = Widened(stored);
  if (actual->type() != expected->type()) return "another type";
  if (actual->shape() != expected->shape()) return "another shape";
  if (!IsFloat(expected->type())) return actual->AsInt64s() == expected->AsInt64s() ? "" : "other integers";
  const std::vector<float> got = actual->AsFloats();
  const std::vector<float> wanted = expected->AsFloats();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (got[i] == wanted[i] || (std::isnan(got[i]) && std::isnan(wanted[i]))) continue;
    if (std::abs(got[i] - wanted[i]) <= 1e-5f + tolerance * std::abs(wanted[i])) continue;
    return "element " + std::to_string(i) + " is " + std::to_string(got[i]) + ", not " + std::to_string(wanted[i]);
  }
  return "";
}

// The package stores tensors of bfloat16 as ones of uint16 that hold their bits.
TensorData AsWanted(const TensorData& tensor, const Model& model, int value) {
  const bool bits =
      tensor->type() == DataType::kUint16 && model.values[static_cast<std::size_t>(value)].type == DataType::kFloat32;
  return bits ? ConstantData::Dense(DataType::kBfloat16, tensor->shape(), tensor->stored()) : tensor;
}

std::string FirstUnsupported(const Model& model) {
  for (std::size_t node = 0; node < model.nodes.size(); ++node) {
    const std::string reason = UnsupportedReason(model, static_cast<int>(node));
    if (!reason.empty()) return reason;
  }
  return "";
}

// The cases give axes, bounds and shapes as inputs of the model, which networks have as constants. Turns the inputs
// that nodes read as such parameters (everything but a node's first input) into constants.
void BindParameters(Model& model, std::vector<TensorData>& inputs) {
  std::set<int> data;
  for (const Node& node : model.nodes) {
    const bool all_data = node.op_type == "Concat";
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (i == 0 || all_data) data.insert(node.inputs[i]);
  }
  const bool only_parameters =
      model.nodes.size() == 1 && (model.nodes[0].op_type == "Range" || model.nodes[0].op_type == "ConstantOfShape");
  std::vector<int> kept_ids;
  std::vector<TensorData> kept;
  for (std::size_t i = 0; i < model.inputs.size(); ++i) {
    if (data.contains(model.inputs[i]) && !only_parameters) {
      kept_ids.push_back(model.inputs[i]);
      kept.push_back(inputs[i]);
    } else {
      model.values[static_cast<std::size_t>(model.inputs[i])].constant = inputs[i];
    }
  }
  model.inputs = kept_ids;
  inputs = kept;
}

// Runs the model node by node; what is wrong with its outputs, or nothing.
std::string Run(const Model& model, const std::vector<TensorData>& inputs, const std::vector<TensorData>& expected,
                const HarnessOptions& options) {
  std::map<int, TensorData> values;
  for (std::size_t i = 0; i < inputs.size(); ++i) values[model.inputs[i]] = inputs[i];
  for (std::size_t node = 0; node < model.nodes.size(); ++node)
    values.merge(RunGroup(model, {static_cast<int>(node)}, values, options));
  for (std::size_t i = 0; i < model.outputs.size(); ++i) {
    const int id = model.outputs[i];
    const TensorData& constant = model.values[static_cast<std::size_t>(id)].constant;
    if (constant == nullptr && !values.contains(id)) return "output " + std::to_string(i) + " is missing";
    const std::string difference = Difference(constant ? constant : values.at(id), expected[i]);
    if (!difference.empty()) return "output " + std::to_string(i) + ": " + difference;
  }
  return "";
}

struct Counts {
  int passed = 0, failed = 0, unsupported = 0, with_parameters = 0;
  std::map<std::string, int> reasons;
};

void Check(const fs::path& folder, Counts& counts) {
  Model model;
  std::vector<TensorData> inputs, expected;
  const auto unsupported = [&](const std::string& reason) {
    ++counts.unsupported;
    ++counts.reasons[reason];
  };
  try {
    model = ReadOnnx((folder / "model.onnx").string());
    inputs = ReadTensors(folder / "test_data_set_0", "input_");
    expected = ReadTensors(folder / "test_data_set_0", "output_");
  } catch (const InvalidInput& refusal) {
    std::string reason = refusal.what();
    return unsupported("import: " + reason.substr(reason.rfind('/') + 1));
  }
  if (inputs.size() != model.inputs.size() || expected.size() < model.outputs.size())
    return unsupported("import: inputs or outputs that the model drops");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    inputs[i] = Widened(AsWanted(inputs[i], model, model.inputs[i]));
    if (inputs[i]->shape() != model.values[static_cast<std::size_t>(model.inputs[i])].shape)
      return unsupported("import: data of another shape than its model says");
  }
  for (std::size_t i = 0; i < model.outputs.size(); ++i) expected[i] = AsWanted(expected[i], model, model.outputs[i]);
  std::string reason = FirstUnsupported(model);
  bool bound = false;
  if (!reason.empty()) {
    BindParameters(model, inputs);
    bound = true;
    reason = FirstUnsupported(model);
  }
  if (!reason.empty()) return unsupported(reason);
  std::string wrong;
  const std::size_t failures = Failures();
  try {
    for (const int workers : {1, 2}) {
      if (testing::kSanitized && workers == 1) continue;
      for (const Layout available : testing::kLayouts) {
        if (wrong.empty()) wrong = Run(model, inputs, expected, {workers, available});
      }
    }
  } catch (const std::exception& thrown) {
    wrong = thrown.what();
  }
  if (wrong.empty() && Failures() != failures) wrong = "the harness complains";
  if (wrong.empty()) {
    ++counts.passed;
    if (bound) ++counts.with_parameters;
  } else {
    ++counts.failed;
    std::cout << folder.filename().string() << ": " << wrong << "\n";
  }
}

Counts Tally(const fs::path& cases) {
  std::vector<fs::path> folders;
  for (const fs::directory_entry& entry : fs::directory_iterator(cases)) {
    if (fs::exists(entry.path() / "model.onnx")) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  Counts counts;
  for (const fs::path& folder : folders) {
    SCOPED_TRACE(folder.filename().string());
    Check(folder, counts);
  }
  for (const auto& [reason, times] : counts.reasons) std::cout << "unsupported: " << times << " x " << reason << "\n";
  std::cout << counts.with_parameters << " of those passed have axes, shapes or bounds bound as constants\n";
  std::cout << counts.passed << " passed, " << counts.failed << " failed, " << counts.unsupported << " unsupported\n";
  return counts;
}

TEST(Conformance, EveryOpTheRuntimeClaimsGivesWhatTheNodeCasesExpect) {
  const char* other = std::getenv("MILLRACE_ONNX_NODE_CASES");
  const fs::path cases = other != nullptr ? fs::path(other) : kCases / "node";
  ASSERT_TRUE(fs::is_directory(cases)) << cases << " is missing: install the package libonnx-testdata "
                                       << "(script/bootstrap does)";
  const Counts counts = Tally(cases);
  EXPECT_EQ(counts.failed, 0);
  constexpr int kPassed = 792;  // of the 932 of the package
  EXPECT_GE(counts.passed, other != nullptr ? 1 : kPassed);
}

TEST(Conformance, EveryModelThatPyTorchExportedGivesWhatItsCaseExpects) {
  for (const std::string kind : {"pytorch-converted", "pytorch-operator"}) {
    SCOPED_TRACE(kind);
    ASSERT_TRUE(fs::is_directory(kCases / kind)) << "install the package libonnx-testdata (script/bootstrap does)";
    const Counts counts = Tally(kCases / kind);
    EXPECT_EQ(counts.failed, 0);
    EXPECT_EQ(counts.unsupported, 0);
    EXPECT_GT(counts.passed, 20);
  }
}

}  // namespace
}  // namespace millrace
