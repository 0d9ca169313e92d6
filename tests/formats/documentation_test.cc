// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "millrace/formats/atomic_file.h"
#include "millrace/formats/dnn_partitioning.h"
#include "millrace/formats/graph_json.h"
#include "millrace/formats/json_value.h"
#include "millrace/formats/machine_json.h"
#include "millrace/formats/pipedream.h"
#include "millrace/formats/plan_json.h"
#include "millrace/formats/stg.h"
#include "millrace/plan/fusion_table.h"
#include "millrace/plan/verify.h"

namespace millrace {
namespace {

std::string Page() { return ReadWholeFile(MILLRACE_DOCS "/formats.md"); }

// The page's fenced examples marked with the word.
std::vector<std::string> Examples(const std::string& word) {
  std::vector<std::string> examples;
  std::istringstream page(Page());
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (!inside && line == "```" + word) {
      examples.emplace_back();
      inside = true;
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      examples.back() += line + "\n";
    }
  }
  return examples;
}

TEST(Documentation, ItsJsonExamplesParseAndBelongTogether) {
  const std::vector<std::string> examples = Examples("json");
  ASSERT_EQ(examples.size(), 3U);
  const ComputationGraph graph = ParseGraphJson(examples[0]);
  EXPECT_EQ(graph.num_ops(), 3);
  EXPECT_EQ(ParseMachineJson(examples[1]).devices.size(), 4U);
  const PlanRecord plan = ParsePlanJson(examples[2]);
  VerifyPlan(graph, plan.machine, plan.plan);
}

TEST(Documentation, ItsExamplesOfOtherFormatsParse) {
  const auto stg = Examples("stg"), pipedream = Examples("pipedream"), dnn = Examples("dnn");
  ASSERT_EQ(stg.size(), 1U);
  EXPECT_EQ(ParseStg(stg[0], "x").num_ops(), 2);
  ASSERT_EQ(pipedream.size(), 1U);
  EXPECT_EQ(ParsePipeDream(pipedream[0], "x").num_ops(), 2);
  ASSERT_EQ(dnn.size(), 1U);
  EXPECT_EQ(KindOfJson(dnn[0]), JsonKind::kDnnPartitioning);
  EXPECT_EQ(ParseDnnPartitioning(dnn[0], "x").num_ops(), 2);
}

TEST(Documentation, ItsPlanOfALanguageModelIsOne) {
  const auto plans = Examples("llama-plan");
  ASSERT_EQ(plans.size(), 1U);
  const JsonValue value = ParseJson(plans[0]);
  const JsonPlace plan(value);
  CheckFormat(plan, "millrace.llama-plan");
  int at = 0;
  for (std::size_t i = 0; i < plan.Member("stages").Size(); ++i) {
    const JsonPlace stages = plan.Member("stages"), stage = stages.Element(i);
    EXPECT_EQ(stage.Member("begin").Integer(), at);
    at = stage.Member("end").Integer();
  }
  EXPECT_EQ(at, 17);
}

TEST(Documentation, ItsFusionTableIsTheOneInForce) {
  std::istringstream page(Page());
  int anchors = 0, elementwise = 0;
  for (std::string line; std::getline(page, line);) {
    const bool anchor = line.starts_with("| anchor |");
    if (!anchor && !line.starts_with("| elementwise |")) continue;
    for (std::size_t at = line.find('`'); at != std::string::npos; at = line.find('`', at + 1)) {
      const std::size_t end = line.find('`', at + 1);
      ASSERT_NE(end, std::string::npos);
      const std::string type = line.substr(at + 1, end - at - 1);
      EXPECT_EQ(FusionRoleOf(type), anchor ? FusionRole::kAnchor : FusionRole::kElementwise) << type;
      ++(anchor ? anchors : elementwise);
      at = end;
    }
  }
  EXPECT_EQ(anchors, 5);
  EXPECT_EQ(elementwise, 46);
  EXPECT_EQ(kMostOpsPerGroup, 16U);
}

}  // namespace
}  // namespace millrace
