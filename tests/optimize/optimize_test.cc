// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/optimize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/machine/preset.h"
#include "millrace/plan/verify.h"
#include "millrace/workloads/random_graph.h"
#include "tests/optimize/no_progress.h"
#include "tests/optimize/shipped_planners.h"
#include "tests/reference/sanitized.h"
#include "tests/reference/slow_simulator.h"

namespace millrace {
namespace {

using testing::kNoProgress;
using testing::ShippedPlanners;

LoadedGraph Layered(int ops, double ccr, std::uint64_t seed) {
  RandomGraphOptions options;
  options.ops = ops;
  options.ccr = ccr;
  options.seed = seed;
  LoadedGraph loaded;
  loaded.graph = MakeRandomGraph("layered", options);
  return loaded;
}

OptimizeOptions On(const std::string& target) {
  OptimizeOptions options;
  options.target = target;
  options.samples = testing::Rounds(64);
  options.iterations = testing::Rounds(2000);
  return options;
}

const Machine kFour = *MachinePreset("homogeneous:4,latency=1e-3,bandwidth=1e9");

TEST(Optimize, ReturnsAValidPlanNoSlowerThanAnyBaselineOnEveryTarget) {
  for (const char* target : {"sim:noise", "sim:bandwidth", "sim:latency", "sim:contention", "sim:noise+contention"}) {
    if (testing::kSanitized && target != std::string("sim:noise+contention")) continue;
    const LoadedGraph loaded = Layered(60, 1, 5);
    const OptimizeResult result = Optimize(loaded, kFour, ShippedPlanners(), On(target), kNoProgress);
    EXPECT_EQ(WhyNotValid(loaded.graph, kFour, result.best.plan), std::nullopt) << target;
    ASSERT_TRUE(result.best.target_seconds) << target;
    ASSERT_FALSE(result.baselines.empty());
    for (const BaselineResult& baseline : result.baselines) {
      ASSERT_TRUE(baseline.candidate.target_seconds) << target << " " << baseline.name;
      EXPECT_LE(*result.best.target_seconds, *baseline.candidate.target_seconds) << target << " " << baseline.name;
    }
    for (const Candidate& candidate : result.candidates) {
      ASSERT_TRUE(candidate.target_seconds);
      EXPECT_LE(*result.best.target_seconds, *candidate.target_seconds) << target;
    }
  }
}

TEST(Optimize, ReportsTheProxyTimeASlowSimulationOfTheBestPlanGives) {
  const LoadedGraph loaded = Layered(40, 2, 6);
  const OptimizeResult result = Optimize(loaded, kFour, ShippedPlanners(), On("sim:noise"), kNoProgress);
  EXPECT_NEAR(result.best.proxy_seconds, testing::SlowSimulate(loaded.graph, kFour, result.best.plan).makespan, 1e-9);
  EXPECT_LE(result.lower_bound_seconds, result.best.proxy_seconds * (1 + 1e-9));
  EXPECT_LE(result.fusion_free_bound_seconds, result.best.proxy_seconds * (1 + 1e-9));
}

TEST(Optimize, GivesTheSameAnswerForTheSameSeedAndAnotherNoiseForAnother) {
  const LoadedGraph loaded = Layered(50, 1, 7);
  OptimizeOptions options = On("sim:noise");
  const OptimizeResult a = Optimize(loaded, kFour, ShippedPlanners(), options, kNoProgress);
  const OptimizeResult b = Optimize(loaded, kFour, ShippedPlanners(), options, kNoProgress);
  EXPECT_EQ(a.best.plan, b.best.plan);
  EXPECT_EQ(a.best.target_seconds, b.best.target_seconds);
  options.seed = 1;
  const OptimizeResult c = Optimize(loaded, kFour, ShippedPlanners(), options, kNoProgress);
  EXPECT_NE(a.best.target_seconds, c.best.target_seconds);
}

TEST(Optimize, RanksPerfectlyWhereTheTargetIsTheProxyItself) {
  const LoadedGraph loaded = Layered(50, 1, 8);
  const OptimizeResult result = Optimize(loaded, kFour, ShippedPlanners(), On("sim:noise,sigma=0"), kNoProgress);
  ASSERT_TRUE(result.proxy_judgement.rank_correlation);
  EXPECT_DOUBLE_EQ(*result.proxy_judgement.rank_correlation, 1.0);
  EXPECT_NEAR(*result.proxy_judgement.median_error, 0.0, 1e-9);
}

TEST(Optimize, MeasuresAtMostTopKPlansBesideTheBaselines) {
  const LoadedGraph loaded = Layered(50, 1, 9);
  OptimizeOptions options = On("sim:latency");
  options.top_k = 3;
  const OptimizeResult result = Optimize(loaded, kFour, ShippedPlanners(), options, kNoProgress);
  // One more where the obvious plans have a better one.
  EXPECT_LE(result.candidates.size(), 3 + result.baselines.size() + 1);
  options.without = {"obvious"};
  const OptimizeResult few = Optimize(loaded, kFour, ShippedPlanners(), options, kNoProgress);
  EXPECT_LE(few.candidates.size(), 3 + few.baselines.size());
}

TEST(Optimize, AnswersWithinItsTimeLimitThoughItsSearchesAskForMore) {
  const LoadedGraph loaded = Layered(300, 1, 10);
  OptimizeOptions options = On("sim:noise");
  options.samples = 1'000'000'000;
  options.iterations = 1'000'000'000'000;
  options.time_limit = 1.0;
  const OptimizeResult result = Optimize(loaded, kFour, ShippedPlanners(), options, kNoProgress);
  EXPECT_TRUE(result.best.target_seconds);
}

// One op after the other, so that one device is best.
LoadedGraph Chain(int ops) {
  GraphData data;
  data.ops.resize(static_cast<std::size_t>(ops));
  for (Op& op : data.ops) op.seconds.everywhere = 1.0;
  for (int op = 0; op + 1 < ops; ++op) data.tensors.push_back({"t" + std::to_string(op), op, {op + 1}, 1e6, false});
  LoadedGraph loaded;
  loaded.graph = ComputationGraph(std::move(data));
  return loaded;
}

TEST(Optimize, PlansNoFurtherThanTheLowerBound) {
  OptimizeOptions options;
  options.target = "sim:contention";
  const OptimizeResult result = Optimize(Chain(8), kFour, ShippedPlanners(), options, kNoProgress);
  EXPECT_DOUBLE_EQ(*result.best.target_seconds, 8);
  EXPECT_LT(result.proposed, 100);
  EXPECT_FALSE(result.transfer_fit);
  options.target = "sim:noise";
  EXPECT_GT(Optimize(Chain(8), kFour, ShippedPlanners(), options, kNoProgress).proposed, 100);
}

TEST(Optimize, PlansNoFurtherThanWhatBranchAndBoundProves) {
  OptimizeOptions options;
  options.target = "sim:noise,sigma=0";
  const OptimizeResult result = Optimize(Layered(7, 2, 12), kFour, ShippedPlanners(), options, kNoProgress);
  EXPECT_GT(result.best.proxy_seconds, 1.01 * result.lower_bound_seconds);
  EXPECT_LT(result.proposed, 200);
}

TEST(Optimize, NamesWhatIsAtWorkAndNeverGoesBack) {
  for (const bool limited : {false, true}) {
    OptimizeOptions options = On("sim:contention");
    if (limited) options.time_limit = 2;
    double done = 0;
    std::vector<std::string> methods;
    Optimize(Layered(40, 1, 13), kFour, ShippedPlanners(), options, [&](const OptimizeStep& step) {
      EXPECT_GE(step.done, done);
      EXPECT_LE(step.done, 1);
      EXPECT_NE(step.stage, "");
      EXPECT_EQ(step.seconds_left.has_value(), limited);
      done = step.done;
      methods.emplace_back(step.method);
    });
    for (const char* method : {"heft", "anneal", "contended-search"}) EXPECT_THAT(methods, ::testing::Contains(method));
  }
}

TEST(Optimize, SearchesOnWhereTimeIsLimitedAndTheProxyIsTheTarget) {
  const auto stages = [](const std::string& target, Proxy proxy, std::optional<double> limit) {
    OptimizeOptions options = On(target);
    options.proxy = proxy;
    options.time_limit = limit;
    std::set<std::string> told;
    Optimize(Layered(60, 5, 13), kFour, ShippedPlanners(), options,
             [&told](const OptimizeStep& step) { told.emplace(step.stage); });
    return told;
  };
  EXPECT_THAT(stages("sim:contention", Proxy::kContended, 2),
              ::testing::AllOf(::testing::Contains("search on"),
                               ::testing::Not(::testing::Contains("propose for dearer transfers"))));
  EXPECT_THAT(stages("sim:contention", Proxy::kLinear, 2),
              ::testing::AllOf(::testing::Not(::testing::Contains("search on")),
                               ::testing::Contains("propose for dearer transfers")));
  EXPECT_THAT(stages("sim:contention", Proxy::kContended, std::nullopt),
              ::testing::AllOf(::testing::Not(::testing::Contains("search on")),
                               ::testing::Contains("propose for dearer transfers")));
}

TEST(Optimize, LeavesOutMethodsThatItsTimeLimitDoesNotAllowAndSaysSo) {
  OptimizeOptions options = On("sim:contention");
  options.time_limit = 1e-3;
  const OptimizeResult result = Optimize(Layered(400, 1, 14), kFour, ShippedPlanners(), options, kNoProgress);
  EXPECT_TRUE(result.best.target_seconds);
  EXPECT_THAT(result.warnings, ::testing::Contains(::testing::HasSubstr("leaves no time for")));
}

TEST(Optimize, ChoosesRobustPlansByTheWorseOfTwoTimes) {
  int different = 0;
  const auto graphs = testing::Rounds<std::uint64_t>(6);
  for (std::uint64_t seed = 20; seed < 20 + graphs; ++seed) {
    const LoadedGraph loaded = Layered(40, 2, seed);
    OptimizeOptions options = On("sim:noise,sigma=0");
    const OptimizeResult usual = Optimize(loaded, kFour, ShippedPlanners(), options, kNoProgress);
    options.robust = true;
    const OptimizeResult robust = Optimize(loaded, kFour, ShippedPlanners(), options, kNoProgress);
    const auto worse = [](const Candidate& best) { return *best.target_seconds * std::max(1.0, *best.fragility); };
    EXPECT_LE(worse(robust.best), worse(usual.best) * (1 + 1e-9)) << seed;
    different += worse(robust.best) < worse(usual.best) * (1 - 1e-9) ? 1 : 0;
  }
  EXPECT_GT(different, testing::kSanitized ? -1 : 2);
}

TEST(Optimize, FindsAPlanWithoutAnyOfTheStagesThatHaveANameAndWithoutAllOfThem) {
  const LoadedGraph loaded = Layered(40, 1, 11);
  std::vector<std::vector<std::string>> left_out(1);
  for (const OptimizeStage& stage : OptimizeStages()) {
    if (stage.name.empty()) continue;
    left_out.front().push_back(stage.name);
    left_out.push_back({stage.name});
  }
  EXPECT_THAT(left_out.front(), ::testing::ElementsAre("profile", "finetune", "shared-links", "search-on",
                                                       "dearer-transfers", "calibrate", "obvious", "compare"));
  if (testing::kSanitized) left_out.resize(1);
  for (const std::vector<std::string>& without : left_out) {
    OptimizeOptions options = On("sim:contention");
    options.without = without;
    const OptimizeResult result = Optimize(loaded, kFour, ShippedPlanners(), options, kNoProgress);
    EXPECT_EQ(WhyNotValid(loaded.graph, kFour, result.best.plan), std::nullopt) << without.front();
    ASSERT_TRUE(result.best.target_seconds) << without.front();
    for (const Candidate& candidate : result.candidates)
      EXPECT_LE(*result.best.target_seconds, *candidate.target_seconds) << without.front();
    for (const BaselineResult& baseline : result.baselines)
      EXPECT_LE(*result.best.target_seconds, *baseline.candidate.target_seconds) << without.front();
    const bool calibrated = std::find(without.begin(), without.end(), "calibrate") == without.end();
    EXPECT_EQ(result.transfer_fit.has_value(), calibrated) << without.front();
  }
}

TEST(Optimize, RefusesToLeaveOutAStageThereIsNotAndListsThem) {
  OptimizeOptions options = On("sim:noise");
  for (const char* name : {"nonsense", ""}) {
    options.without = {"profile", name};
    try {
      Optimize(Layered(10, 1, 1), kFour, ShippedPlanners(), options, kNoProgress);
      FAIL() << name;
    } catch (const InvalidInput& error) {
      EXPECT_THAT(
          error.what(),
          ::testing::AllOf(
              ::testing::HasSubstr(std::string("'") + name + "'"),
              ::testing::HasSubstr(
                  "profile, finetune, shared-links, search-on, dearer-transfers, calibrate, obvious, compare")));
    }
  }
}

TEST(Optimize, RefusesToExecuteAGraphWithoutAModel) {
  EXPECT_THROW(Optimize(Layered(10, 1, 1), *MachinePreset("this"), ShippedPlanners(), On("cpu"), kNoProgress),
               InvalidInput);
}

TEST(Optimize, SaysSoWhenNothingFitsInMemory) {
  GraphData data;
  data.ops.resize(3);
  for (Op& op : data.ops) op.weight_bytes = 100;
  LoadedGraph loaded;
  loaded.graph = ComputationGraph(std::move(data));
  Machine machine = *MachinePreset("homogeneous:2");
  for (Device& device : machine.devices) device.memory_bytes = 50;
  EXPECT_THROW(Optimize(loaded, machine, ShippedPlanners(), On("sim:noise"), kNoProgress), WorkFailed);
}

}  // namespace
}  // namespace millrace
