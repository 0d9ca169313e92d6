// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/onnxruntime/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "millrace/errors/errors.h"
#include "millrace/formats/model_graph.h"
#include "millrace/formats/onnx_read.h"
#include "millrace/machine/preset.h"
#include "tests/engines/onnxruntime/random_model.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

using Json = nlohmann::json;

class ExportedPlan : public ::testing::Test {
 protected:
  ExportedPlan() : folder_(std::filesystem::temp_directory_path() / ("millrace_export_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder_);
  }
  ~ExportedPlan() override { std::filesystem::remove_all(folder_); }

  PlanRecord RandomRecord(Random& random, const Model& model) const {
    const ComputationGraph graph = GraphOfModel(model);
    PlanRecord record;
    record.machine = *MachinePreset("homogeneous:3");
    record.method = "by \"chance\"";
    record.plan = testing::RandomPlan(random, graph, record.machine, testing::RandomGroups(random, graph));
    return record;
  }
  Json Manifest() const { return Json::parse(std::ifstream(folder_ / "manifest.json")); }

  std::filesystem::path folder_;
};

TEST_F(ExportedPlan, CanBeFollowedByItsManifestAlone) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Random random(seed);
    const Model model = testing::RandomModel(random, 20);
    const PlanRecord record = RandomRecord(random, model);
    const ExportedParts exported = ExportParts(model, GraphOfModel(model), record, folder_.string());
    const Json manifest = Manifest();
    EXPECT_EQ(manifest["format"], "millrace.parts");
    EXPECT_EQ(manifest["version"], 1);
    EXPECT_EQ(manifest["method"], record.method);
    ASSERT_EQ(manifest["parts"].size(), static_cast<std::size_t>(exported.parts));
    EXPECT_EQ(exported.files.size(), manifest["parts"].size() + 1);

    std::set<std::string> inputs;
    for (const Json& input : manifest["inputs"]) inputs.insert(input["name"]);
    std::vector<std::set<std::string>> made;
    const auto is_there = [&](const Json& tensor) {
      if (tensor.contains("part")) return made.at(tensor["part"].get<std::size_t>()).contains(tensor["name"]);
      return inputs.contains(tensor["input"].get<std::string>());
    };
    std::size_t ops = 0;
    for (const Json& part : manifest["parts"]) {
      const Model read = ReadOnnx((folder_ / part["file"].get<std::string>()).string());
      EXPECT_LE(read.nodes.size(), part["ops"].size()) << "reading leaves out what nobody reads";
      ops += part["ops"].size();
      EXPECT_EQ(part["intra_op_threads"].get<std::size_t>(), part["units"].size());
      const auto check = [&read](const std::vector<int>& values, const Json& tensors) {
        ASSERT_EQ(values.size(), tensors.size());
        for (std::size_t i = 0; i < values.size(); ++i) {
          const Value& value = read.values[static_cast<std::size_t>(values[i])];
          EXPECT_EQ(tensors[i]["name"], value.name);
          EXPECT_EQ(tensors[i]["type"], NameOf(value.type));
          EXPECT_EQ(tensors[i]["shape"].get<Shape>(), value.shape);
        }
      };
      check(read.inputs, part["inputs"]);
      check(read.outputs, part["outputs"]);
      for (const Json& input : part["inputs"]) {
        EXPECT_TRUE(is_there(input)) << input;
        if (input.contains("part")) {
          EXPECT_THAT(part["after"].get<std::vector<int>>(), ::testing::Contains(input["part"].get<int>()));
        }
      }
      made.emplace_back();
      for (const Json& output : part["outputs"]) made.back().insert(output["name"].get<std::string>());
    }
    EXPECT_EQ(ops, model.nodes.size());
    ASSERT_EQ(manifest["outputs"].size(), model.outputs.size());
    for (const Json& output : manifest["outputs"]) EXPECT_TRUE(is_there(output)) << output;
  }
}

TEST_F(ExportedPlan, IsTheOneInTheDocuments) {
  std::ifstream page(MILLRACE_DOCS "/formats.md");
  std::string text(std::istreambuf_iterator<char>(page), {});
  const std::size_t begin = text.find("```parts\n");
  ASSERT_NE(begin, std::string::npos);
  text = text.substr(begin + 9, text.find("```", begin + 9) - begin - 9);

  Model model;
  model.name = "tiny";
  const std::vector<std::string> names = {"image", "features", "active", "scores"};
  const std::vector<std::string> types = {"Relu", "Tanh", "Sigmoid"};
  for (int i = 0; i < 4; ++i) {
    Value value;
    value.name = names[static_cast<std::size_t>(i)];
    value.shape = {1, 8};
    value.producer = i - 1;
    model.values.push_back(value);
    if (i > 0)
      model.nodes.push_back(
          {names[static_cast<std::size_t>(i)], types[static_cast<std::size_t>(i) - 1], "", {i - 1}, {i}, {}, {}, {}});
  }
  model.inputs = {0};
  model.outputs = {3};
  PlanRecord record;
  record.machine.name = "m";
  record.machine.devices = {{"a", "cpu", {0}, 1, 1, {}, 0}, {"b", "cpu", {1}, 1, 1, {}, 0}};
  record.method = "by hand";
  record.plan = {{{0}, {1}, {2}}, {0, 0, 1}, {0, 1, 2}};
  ExportParts(model, GraphOfModel(model), record, folder_.string());
  Json written = Manifest();
  written["graph_hash"] = "";
  EXPECT_EQ(written, Json::parse(text));
}

TEST_F(ExportedPlan, KeepsOutputsThatNoPartMakes) {
  Random random(4);
  Model model = testing::RandomModel(random, 5);
  int constant = 0;
  while (model.values[static_cast<std::size_t>(constant)].constant == nullptr) ++constant;
  model.outputs = {model.inputs.front(), model.outputs.front(), constant};
  ExportParts(model, GraphOfModel(model), RandomRecord(random, model), folder_.string());
  const Json outputs = Manifest()["outputs"];
  EXPECT_EQ(outputs[0]["input"], outputs[0]["name"]);
  EXPECT_TRUE(outputs[1].contains("part"));
  const auto tensor = ReadTensor((folder_ / outputs[2]["file"].get<std::string>()).string());
  EXPECT_EQ(tensor->AsFloats(), model.values[static_cast<std::size_t>(constant)].constant->AsFloats());
}

TEST_F(ExportedPlan, RefusesAFolderThatCannotBe) {
  Random random(4);
  const Model model = testing::RandomModel(random, 5);
  std::ofstream(folder_) << "a file";
  EXPECT_THROW(ExportParts(model, GraphOfModel(model), RandomRecord(random, model), (folder_ / "in").string()),
               InvalidInput);
}

}  // namespace
}  // namespace millrace
