// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/formats/plan_json.h"
#include "millrace/graph/computation_graph.h"
#include "millrace/plan/hash.h"
#include "millrace/plan/verify.h"
#include "millrace/simulate/simulation.h"
#include "tests/reference/random_problem.h"
#include "tests/reference/sanitized.h"

// Every field of a plan, changed in every way that a hand or a broken disk might: refused, or harmless.
namespace millrace {
namespace {

using Json = nlohmann::ordered_json;

std::vector<Json> Replacements() {
  return {nullptr,
          true,
          false,
          0,
          1,
          -1,
          2,
          3.5,
          1e300,
          -1e300,
          9223372036854775807,
          "",
          "0",
          "p0",
          "x\n",
          Json::array(),
          Json::object(),
          Json::array({0}),
          Json::array({0, 0}),
          Json::array({Json::array()}),
          18446744073709551615U,
          std::string(5000, 'x')};
}

// Places of all values, the outermost first.
void Places(const Json& json, const Json::json_pointer& at, std::vector<Json::json_pointer>& places) {
  places.push_back(at);
  if (json.is_object()) {
    for (const auto& [name, value] : json.items()) Places(value, at / name, places);
  } else if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i) Places(json[i], at / i, places);
  }
}

// What became of the plan; a crash, a hang or another exception is for the test to fail at.
bool IsTaken(const std::string& text, const ComputationGraph& graph) {
  try {
    const PlanRecord record = ParsePlanJson(text);
    VerifyRecord(graph, record);
    const Simulation simulation = Simulate(graph, record);
    EXPECT_TRUE(std::isfinite(simulation.timeline.makespan)) << text;
    EXPECT_GE(simulation.timeline.makespan, 0) << text;
    EXPECT_EQ(simulation.timeline.start.size(), record.plan.groups.size()) << text;
    EXPECT_EQ(ParsePlanJson(PlanJson(record)).plan, record.plan) << text;
    return true;
  } catch (const InvalidInput& refusal) {
    EXPECT_NE(std::string(refusal.what()), "");
    return false;
  }
}

TEST(PlanFields, ChangedInAnyWayAreRefusedOrHarmless) {
  Random random(5);
  testing::RandomProblemOptions options;
  options.most_ops = 9;
  std::size_t taken = 0, refused = 0;
  for (int round = 0; round < testing::Rounds(4); ++round) {
    const ComputationGraph graph = testing::RandomGraph(random, options);
    PlanRecord record;
    record.machine = testing::RandomMachine(random, options);
    record.graph_name = graph.name();
    record.graph_hash = GraphHash(graph);
    record.method = "by hand";
    record.proxy_seconds = 1;
    record.plan = testing::RandomPlan(random, graph, record.machine, testing::RandomGroups(random, graph));
    const Json whole = Json::parse(PlanJson(record));
    ASSERT_TRUE(IsTaken(whole.dump(), graph));
    std::vector<Json::json_pointer> places;
    Places(whole, Json::json_pointer(), places);
    for (const Json::json_pointer& place : places) {
      const auto look = [&](const Json& changed) { ++(IsTaken(changed.dump(), graph) ? taken : refused); };
      for (const Json& replacement : Replacements()) {
        Json changed = whole;
        changed[place] = replacement;
        look(changed);
      }
      if (place.empty()) continue;
      Json without = whole;
      Json& parent = without[place.parent_pointer()];
      if (parent.is_object()) {
        parent.erase(place.back());
      } else {
        parent.erase(static_cast<std::size_t>(std::stoul(place.back())));
      }
      look(without);
    }
  }
  RecordProperty("taken", static_cast<int>(taken));
  RecordProperty("refused", static_cast<int>(refused));
  EXPECT_GT(refused, 1000U);
  EXPECT_GT(taken, 20U);
}

}  // namespace
}  // namespace millrace
