// SPDX-License-Identifier: Apache-2.0
#include "millrace/fusion/fusion_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/machine/preset.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

std::vector<std::string> NamesOf(const GraphData& data) {
  const ComputationGraph graph{data};
  std::vector<std::string> names;
  for (const FusionOption& option : FusionOptions(*MakeAnalyticCostModel(graph, *MachinePreset("homogeneous:2"))))
    names.push_back(option.name);
  return names;
}

// Two ops, the second of which reads what the first makes.
GraphData Chain(const std::string& first, const std::string& second) {
  GraphData data;
  data.ops.resize(2);
  data.ops[0].name = "a";
  data.ops[0].type = first;
  data.ops[1].name = "b";
  data.ops[1].type = second;
  Tensor made;
  made.producer = 0;
  made.consumers = {1};
  made.bytes = 8;
  data.tensors.push_back(made);
  return data;
}

TEST(FusionOptions, AreNoneAndGreedyWhereThatFusesAnything) {
  EXPECT_THAT(NamesOf(Chain("Conv", "Relu")), ElementsAre("none", "greedy"));
  EXPECT_THAT(NamesOf(Chain("Relu", "Conv")), ElementsAre("none"));
}

// Two gates of one tensor, and the op that joins them: the greedy rule puts that op to one of them.
GraphData Gates() {
  GraphData data;
  for (const char* type : {"Split", "Sigmoid", "Tanh", "Mul"}) {
    data.ops.emplace_back();
    data.ops.back().type = type;
    data.ops.back().name = type;
  }
  data.tensors = {{"a", 0, {1, 2}, 8, false}, {"b", 1, {3}, 8, false}, {"c", 2, {3}, 8, false}};
  return data;
}

TEST(FusionOptions, AreMergedTooWhereTimesOfGroupsAreNotKnown) {
  GraphData gates = Gates();
  EXPECT_THAT(NamesOf(gates), ElementsAre("none", "merged", "greedy"));
  gates.group_seconds.push_back({{2, 3}, {1e-9, {}}});
  EXPECT_THAT(NamesOf(gates), Not(Contains("merged")));
}

TEST(FusionOptions, AreAllDifferent) {
  Random random(4);
  std::size_t several = 0;
  for (int i = 0; i < 100; ++i) {
    const ComputationGraph graph = testing::RandomGraph(random);
    const Machine machine = testing::RandomMachine(random);
    const auto model = MakeAnalyticCostModel(graph, machine);
    const std::vector<FusionOption> options = FusionOptions(*model);
    ASSERT_FALSE(options.empty());
    EXPECT_EQ(options.front().name, "none");
    several += options.size() > 1 ? 1 : 0;
    for (std::size_t a = 0; a < options.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) EXPECT_NE(options[a].groups, options[b].groups) << options[a].name;
    }
  }
  EXPECT_GT(several, 20u);
}

}  // namespace
}  // namespace millrace
