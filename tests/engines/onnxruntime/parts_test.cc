// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/onnxruntime/parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "millrace/formats/model_graph.h"
#include "millrace/formats/onnx_import.h"
#include "millrace/formats/onnx_write.h"
#include "millrace/machine/preset.h"
#include "tests/engines/onnxruntime/random_model.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Parts : public ::testing::TestWithParam<int> {
 protected:
  Parts() : random_(static_cast<std::uint64_t>(GetParam())), model_(testing::RandomModel(random_, 30)) {
    const ComputationGraph graph = GraphOfModel(model_);
    const Machine machine = *MachinePreset("homogeneous:3");
    for (const Stretch& stretch : CutIntoStretches(
             graph, machine, testing::RandomPlan(random_, graph, machine, testing::RandomGroups(random_, graph))))
      nodes_.push_back(stretch.ops);
    borders_ = BordersOf(model_, nodes_);
  }
  const Value& ValueOf(int id) const { return model_.values[static_cast<std::size_t>(id)]; }

  Random random_;
  Model model_;
  std::vector<std::vector<OpId>> nodes_;
  std::vector<PartBorder> borders_;
};

TEST_P(Parts, HandOverAllThatIsReadElsewhere) {
  std::set<int> there(model_.inputs.begin(), model_.inputs.end());
  for (std::size_t part = 0; part < nodes_.size(); ++part) {
    const std::set<int> given(borders_[part].inputs.begin(), borders_[part].inputs.end());
    for (const int value : given) {
      EXPECT_TRUE(there.contains(value)) << ValueOf(value).name << " is handed over before it is made";
      EXPECT_EQ(ValueOf(value).constant, nullptr);
    }
    std::set<int> made;
    for (const OpId node : nodes_[part]) {
      for (const int input : model_.nodes[static_cast<std::size_t>(node)].inputs)
        EXPECT_TRUE(given.contains(input) || made.contains(input) || ValueOf(input).constant != nullptr)
            << ValueOf(input).name;
      for (const int output : model_.nodes[static_cast<std::size_t>(node)].outputs) made.insert(output);
    }
    EXPECT_THAT(borders_[part].outputs, ::testing::Not(IsEmpty()));
    for (const int value : borders_[part].outputs) {
      EXPECT_TRUE(made.contains(value)) << ValueOf(value).name;
      EXPECT_TRUE(there.insert(value).second) << ValueOf(value).name << " has two places";
    }
  }
  for (const int value : model_.outputs) EXPECT_TRUE(there.contains(value)) << ValueOf(value).name;
}

TEST_P(Parts, AreModelsThatReadBackWithTheirBorders) {
  for (std::size_t part = 0; part < nodes_.size(); ++part) {
    const Model model = PartModel(model_, nodes_[part], borders_[part]);
    ASSERT_EQ(model.nodes.size(), nodes_[part].size());
    for (std::size_t i = 0; i < model.nodes.size(); ++i) {
      EXPECT_EQ(model.nodes[i].name, model_.nodes[static_cast<std::size_t>(nodes_[part][i])].name);
      for (const int output : model.nodes[i].outputs)
        EXPECT_EQ(model.values[static_cast<std::size_t>(output)].producer, static_cast<int>(i));
    }
    std::vector<std::string> warnings;
    const Model read = ImportOnnx(OnnxBytes(model), nullptr, {}, ShapeSource::kInference, warnings);
    const auto names = [](const Model& of, const std::vector<int>& ids) {
      std::vector<std::string> all;
      for (const int id : ids) all.push_back(of.values[static_cast<std::size_t>(id)].name);
      return all;
    };
    EXPECT_EQ(names(read, read.inputs), names(model_, borders_[part].inputs));
    EXPECT_EQ(names(read, read.outputs), names(model_, borders_[part].outputs));
  }
}

INSTANTIATE_TEST_SUITE_P(RandomModels, Parts, ::testing::Range(0, 40));

TEST(PartsOf, AModelGiveAwayWhatNobodyReadsOnlyWhereAPartHasNothingElse) {
  Random random(1);
  Model model = testing::RandomModel(random, 1);
  Node unread = model.nodes.front();
  unread.name = "unread";
  Value value = model.values[static_cast<std::size_t>(unread.outputs.front())];
  value.name = "nobody";
  value.producer = 1;
  model.values.push_back(value);
  unread.outputs = {static_cast<int>(model.values.size()) - 1};
  model.nodes.push_back(unread);
  const int first = model.nodes.front().outputs.front();
  EXPECT_THAT(BordersOf(model, {{0, 1}}).front().outputs, ElementsAre(first));
  const std::vector<PartBorder> apart = BordersOf(model, {{0}, {1}});
  EXPECT_THAT(apart[0].outputs, ElementsAre(first));
  EXPECT_THAT(apart[1].outputs, ElementsAre(unread.outputs.front()));
}

TEST(PartsOf, AModelReadWhatAControlFlowBodyCaptures) {
  Random random(2);
  Model model = testing::RandomModel(random, 6);
  const int captured = model.nodes.front().outputs.front();
  model.nodes.back().captured = {captured};
  const OpId last = static_cast<OpId>(model.nodes.size()) - 1;
  if (last == 0) GTEST_FAIL() << "the sample has one node";
  std::vector<OpId> others(static_cast<std::size_t>(last));
  for (OpId node = 0; node < last; ++node) others[static_cast<std::size_t>(node)] = node;
  const std::vector<PartBorder> borders = BordersOf(model, {others, {last}});
  EXPECT_THAT(borders[0].outputs, ::testing::Contains(captured));
  EXPECT_THAT(borders[1].inputs, ::testing::Contains(captured));
}

}  // namespace
}  // namespace millrace
