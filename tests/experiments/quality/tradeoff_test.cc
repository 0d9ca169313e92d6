// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality/tradeoff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "millrace/heuristics/heuristics.h"
#include "millrace/optimize/planners.h"

namespace millrace {
namespace {

TEST(LeastAtDistance, IsOnTheCurveOrOfPlansThatDifferMore) {
  const std::vector<std::pair<double, double>> curve = {{0.6, 1.2}, {0.2, 1.0}, {0.4, 1.3}};
  EXPECT_DOUBLE_EQ(LeastAtDistance(curve, 0.1), 1.0);
  EXPECT_DOUBLE_EQ(LeastAtDistance(curve, 0.2), 1.0);
  EXPECT_DOUBLE_EQ(LeastAtDistance(curve, 0.25), 1.075);
  EXPECT_DOUBLE_EQ(LeastAtDistance(curve, 0.35), 1.2);  // on the curve 1.225, and what differs more is better
  EXPECT_DOUBLE_EQ(LeastAtDistance(curve, 0.6), 1.2);
  EXPECT_EQ(LeastAtDistance(curve, 0.61), std::numeric_limits<double>::infinity());
  EXPECT_EQ(LeastAtDistance({}, 0), std::numeric_limits<double>::infinity());
}

TEST(Tradeoff, DrawsEveryCurveOverItsLevels) {
  TradeoffOptions options{.seconds = 0.02, .keep = 5, .temperatures = {0.01, 0.04}, .families = {"montage"}};
  options.ops = {25};
  options.devices = {"4"};
  options.ccr = {1};
  const PlannerRegistry planners = MakePlannerRegistry();
  std::vector<TradeoffMethod> methods = TradeoffMethods(options, planners, &planners);
  std::set<std::string> curves;
  for (const TradeoffMethod& method : methods) curves.insert(method.curve);
  EXPECT_THAT(curves, ::testing::ElementsAre("anneal", "brkga", "gflownet", "gflownet+search", "gflownet-untrained",
                                             "gflownet-untrained+search", "ppo", "randomised-list"));
  int told = 0;
  const TradeoffResult result = RunTradeoff(options, methods, [&told](int, int) { ++told; });
  EXPECT_EQ(told, 1);
  ASSERT_EQ(result.points.size(), 1u);
  ASSERT_EQ(result.points[0].size(), methods.size());
  for (std::size_t m = 0; m < methods.size(); ++m) {
    const TradeoffPoint& point = result.points[0][m];
    EXPECT_LE(point.plans, options.keep) << methods[m].curve;
    EXPECT_GE(point.plans, 1u) << methods[m].curve;
    EXPECT_LE(point.best, point.mean + 1e-12) << methods[m].curve;
    EXPECT_EQ(point.distance > 0, point.plans > 1) << methods[m].curve;
    if (methods[m].curve != "anneal") continue;
    EXPECT_LE(point.best, 1 + 1e-9);  // it begins at HEFT's plan or better
  }
  const std::vector<Table> tables = TradeoffTables(result);
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_EQ(tables[0].rows.size(), methods.size());
  EXPECT_EQ(tables[1].rows.size(), methods.size());
  EXPECT_EQ(TradeoffPlot(result).find("nan"), std::string::npos);
}

TEST(Tradeoff, SaysHowMuchLongerPlansTakeThanTheGFlowNetsThatDifferAsMuch) {
  TradeoffResult result;
  result.methods = {{"gflownet", "T = 1", {}}, {"other", "", {}}, {"varied", "", {}}};
  result.instances.resize(3);
  result.points.assign(3, {{1.0, 1.0, 0.5, 2, 0}, {1.1, 1.1, 0.4, 2, 0}, {1.5, 1.5, 0.9, 2, 0}});
  const Table points = TradeoffTables(result)[0];
  EXPECT_TRUE(points.rows[0].back().numbers.empty());
  ASSERT_EQ(points.rows[1].back().numbers.size(), 3u);
  for (const double number : points.rows[1].back().numbers) EXPECT_NEAR(number, 1.1, 1e-12);
  EXPECT_EQ(points.rows[2].back().text, "none is as different");
}

}  // namespace
}  // namespace millrace
