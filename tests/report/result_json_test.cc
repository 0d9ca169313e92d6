// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/result_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "millrace/machine/preset.h"
#include "millrace/optimize/planners.h"
#include "millrace/report/axis.h"
#include "millrace/report/readable.h"
#include "millrace/report/text.h"
#include "millrace/report/trace.h"
#include "millrace/workloads/random_graph.h"

namespace millrace {
namespace {

using Json = nlohmann::json;

const OptimizeResult& Result() {
  static const OptimizeResult result = [] {
    RandomGraphOptions options;
    options.ops = 30;
    options.seed = 4;
    LoadedGraph loaded;
    loaded.graph = MakeRandomGraph("er", options);
    OptimizeOptions optimize;
    optimize.target = "sim:contention";
    optimize.methods = {"heft", "list", "randomised-list", "anneal"};
    optimize.samples = 32;
    optimize.iterations = 2000;
    return Optimize(loaded, *MachinePreset("homogeneous:2,latency=0.01,bandwidth=1e9"), MakePlannerRegistry(), optimize,
                    nullptr);
  }();
  return result;
}

TEST(ResultJson, HasTheMembersItPromises) {
  const Json json = Json::parse(ResultJson(Result()));
  for (const char* member : {"method", "proxy_seconds", "target_seconds"})
    EXPECT_TRUE(json["best"].contains(member)) << member;
  EXPECT_TRUE(json["baselines"].is_object());
  EXPECT_TRUE(json["baselines"]["heft"].is_number());
  EXPECT_TRUE(json["baselines"]["sequential"].is_number());
  ASSERT_TRUE(json["candidates"].is_array());
  for (const Json& candidate : json["candidates"]) {
    EXPECT_TRUE(candidate["method"].is_string());
    EXPECT_TRUE(candidate["proxy_seconds"].is_number());
    EXPECT_TRUE(candidate["target_seconds"].is_number());
  }
  EXPECT_TRUE(json["lower_bound_seconds"].is_number());
  EXPECT_GE(json["proven_bound_seconds"].get<double>(), json["lower_bound_seconds"].get<double>());
  EXPECT_LE(json["proven_bound_seconds"].get<double>(), json["best"]["proxy_seconds"].get<double>());
  EXPECT_TRUE(json.contains("proxy_rank_correlation"));
  EXPECT_TRUE(json.contains("pays_back_after_runs"));
}

TEST(TraceJson, DrawsEveryGroupOnceOnItsUnitInMicroseconds) {
  const std::vector<PlanAccount> accounts = AccountsOf(Result());
  const Json trace = Json::parse(TraceJson(Result().graph, Result().machine, accounts));
  double last = 0;
  std::size_t slices = 0;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "X" || event["pid"] != 0) continue;
    ++slices;
    last = std::max(last, event["ts"].get<double>() + event["dur"].get<double>());
  }
  EXPECT_EQ(slices, Result().best.plan.groups.size());
  std::set<std::string> counters, processes;
  double most = 0;
  for (const Json& event : trace["traceEvents"]) {
    if (event["name"] == "process_name") processes.insert(event["args"]["name"].get<std::string>());
    if (event["ph"] != "C" || event["pid"] != 0) continue;
    counters.insert(event["name"].get<std::string>());
    most = std::max(most, event["args"]["bytes"].get<double>());
  }
  EXPECT_EQ(counters.size(), accounts[0].memory.size());
  EXPECT_EQ(most, *std::max_element(accounts[0].peak_memory.begin(), accounts[0].peak_memory.end()));
  EXPECT_EQ(processes.count("best (" + Result().best.method + "), on the target"), 1U);
  EXPECT_NEAR(last, 1e6 * accounts[0].timeline.makespan, 1e-3);
}

TEST(ResultText, NamesTheBestPlanAndEveryBaseline) {
  const std::string text = ResultText(Result());
  EXPECT_THAT(text, ::testing::HasSubstr("best (" + Result().best.method));
  for (const BaselineResult& baseline : Result().baselines) EXPECT_THAT(text, ::testing::HasSubstr(baseline.name));
}

TEST(ReadableSeconds, KeepsTheDigitsThatMatter) {
  EXPECT_EQ(ReadableSeconds(0), "0 s");
  EXPECT_EQ(ReadableSeconds(0.0123456), "12.346 ms");
  EXPECT_EQ(ReadableSeconds(1.5e-6), "1.5 us");
  EXPECT_EQ(ReadableSeconds(12.34), "12.3 s");
  EXPECT_EQ(ReadableBytes(1536), "1.5 kB");
}

TEST(AxisTicks, AreRoundAndWithinTheAxis) {
  EXPECT_EQ(AxisTicks(0, 100, 5), (std::vector<double>{0, 20, 40, 60, 80, 100}));
  EXPECT_EQ(AxisTicks(31, 64, 5), (std::vector<double>{40, 50, 60}));
  EXPECT_EQ(AxisTicks(3, 3, 5), (std::vector<double>{3}));
  for (const double tick : AxisTicks(0.0297, 0.0655, 5)) {
    EXPECT_GE(tick, 0.0297);
    EXPECT_LE(tick, 0.0655);
  }
  EXPECT_EQ(RoundSeconds(0.02), "20 ms");
}

TEST(AxisTicks, ArePowersOfTenWhereTheAxisIsLogarithmic) {
  EXPECT_EQ(LogarithmicTicks(1, 9999), (std::vector<double>{1, 10, 100, 1000}));
  EXPECT_EQ(LogarithmicTicks(1.5, 25), (std::vector<double>{2, 5, 10, 20}));
  EXPECT_LE(LogarithmicTicks(1e-9, 1e9).size(), 7U);
  EXPECT_EQ(LogarithmicTicks(1, 1), (std::vector<double>{1}));
}

TEST(Axis, HasRoomAroundOneNumber) {
  for (const double number : {0.0, 1e-9, 0.25, 1e9}) {
    for (const bool logarithmic : {false, true}) {
      const Axis axis = AxisAround(number, number, 0, 100, logarithmic);
      EXPECT_GE(axis.At(number), 0) << number;
      EXPECT_LE(axis.At(number), 100) << number;
      EXPECT_LE(axis.Ticks().size(), 9U) << number;
    }
  }
}

TEST(Axis, KeepsSmallNumbersApartBesideAnOutlier) {
  const Axis axis = AxisAround(1, 1000, 0, 100, true);
  EXPECT_GT(axis.At(2) - axis.At(1), 8);
  EXPECT_GT(axis.At(1), 0);
  EXPECT_LT(axis.At(1000), 100);
  EXPECT_NEAR(axis.At(100) - axis.At(10), axis.At(10) - axis.At(1), 1e-9);
}

}  // namespace
}  // namespace millrace
