// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/judgement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "millrace/optimize/proxy_judgement.h"
#include "millrace/target/statistics.h"

namespace millrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Runs that take `seconds`, a tenth more and less among them.
std::vector<double> Around(double seconds) {
  std::vector<double> times;
  for (int i = 0; i < 30; ++i) times.push_back(seconds * (1 + 0.1 * ((i * 7) % 11 - 5) / 5.0));
  return times;
}

Candidate Taking(const std::vector<double>& times, int device) {
  Candidate candidate;
  candidate.plan = {{{0}}, {device}, {0}};
  candidate.times = times;
  candidate.target_seconds = Median(times);
  return candidate;
}

OptimizeResult BestAndDefault(const std::vector<double>& best, const std::vector<double>& usual) {
  OptimizeResult result;
  result.best = Taking(best, 0);
  result.best.method = "heft";
  result.baselines.push_back({"all-cores", "the default", Taking(usual, 1), {0, 0}});
  return result;
}

// The same times a little later in the list: a tie, by medians that differ by almost nothing.
std::vector<double> Turned(std::vector<double> times, double factor) {
  std::rotate(times.begin(), times.begin() + 4, times.end());
  for (double& time : times) time *= factor;
  return times;
}

TEST(Judgement, PrefersWhatATargetDoesByItselfToAPlanThatIsNotSurelyFaster) {
  OptimizeResult tie = BestAndDefault(Around(1), Turned(Around(1), 1.001));
  OptimizeResult other = tie;
  YieldToFasterBaseline(tie, "all-cores");
  EXPECT_EQ(tie.best.method, "all-cores");
  EXPECT_EQ(tie.best.plan, tie.baselines.front().candidate.plan);
  EXPECT_EQ(tie.baselines.front().ratio, std::pair(1.0, 1.0));
  YieldToFasterBaseline(other);
  EXPECT_EQ(other.best.method, "heft") << "a target that does nothing by itself";
}

TEST(Judgement, KeepsAPlanThatIsSurelyFaster) {
  OptimizeResult result = BestAndDefault(Around(1), Turned(Around(1), 1.5));
  YieldToFasterBaseline(result, "all-cores");
  EXPECT_EQ(result.best.method, "heft");
  EXPECT_GT(result.baselines.front().ratio.first, 1.3);
}

TEST(Judgement, IsNotSureAfterAFewRuns) {
  OptimizeResult result = BestAndDefault({1, 1, 1, 1}, {2, 2, 2, 2});
  YieldToFasterBaseline(result, "all-cores");
  EXPECT_EQ(result.best.method, "all-cores");
}

TEST(Judgement, WarnsOfAnOwnModeThatIsSurelyFasterThanTheBestPlan) {
  OptimizeResult result = BestAndDefault(Around(1), Turned(Around(1), 2));
  const auto mode = [](const std::string& name, const std::vector<double>& times) {
    OwnModeResult own{name, "meaning of " + name, {}, {0, 0}};
    own.measurement.times = times;
    return own;
  };
  result.own_modes = {mode("slow", Around(3)), mode("fast", Turned(Around(1), 0.5))};
  YieldToFasterBaseline(result, "all-cores");
  EXPECT_THAT(result.warnings, ElementsAre(HasSubstr("meaning of fast")));
  EXPECT_LT(result.own_modes.back().ratio.second, 1);
  EXPECT_GT(result.own_modes.front().ratio.first, 1);

  OptimizeResult unmeasured = BestAndDefault(Around(1), Turned(Around(1), 2));
  unmeasured.own_modes = {mode("failed", {})};
  YieldToFasterBaseline(unmeasured, "all-cores");
  EXPECT_THAT(unmeasured.warnings, IsEmpty());
}

Candidate Timed(const std::string& method, int device, double seconds) {
  Candidate candidate;
  candidate.plan = {{{0}}, {device}, {0}};
  candidate.method = method;
  candidate.times = {seconds, seconds, seconds};
  candidate.target_seconds = seconds;
  return candidate;
}

TEST(YieldToFasterBaseline, KeepsThePlanChosenBeforeWithItsInterval) {
  OptimizeResult result;
  result.best = Timed("anneal", 0, 2);
  result.baselines = {{"sequential", "", Timed("sequential", 1, 1), {0, 0}}};
  YieldToFasterBaseline(result);
  EXPECT_EQ(result.best.method, "sequential");
  ASSERT_TRUE(result.challenger.has_value());
  EXPECT_EQ(result.challenger->candidate.method, "anneal");
  EXPECT_EQ(result.challenger->ratio, (std::pair{2.0, 2.0}));
  EXPECT_EQ(result.baselines[0].ratio, (std::pair{1.0, 1.0}));
}

TEST(YieldToFasterBaseline, KnowsNoChallengerWhereTheChosenPlanWinsOrIsTheBaselines) {
  for (const int device : {0, 1}) {
    OptimizeResult result;
    result.best = Timed("anneal", 1, device == 0 ? 0.5 : 2);
    result.baselines = {{"sequential", "", Timed("sequential", device, 1), {0, 0}}};
    YieldToFasterBaseline(result);
    EXPECT_FALSE(result.challenger.has_value());
  }
}

TEST(YieldToFasterBaseline, TellsNoIntervalOfSingleRunsWhereTimesVary) {
  OptimizeResult result = BestAndDefault({1.0, 1.01}, {2.0, 2.01});
  result.baselines.push_back({"once", "", Taking({3.0}, 2), {3, 3}, true});
  YieldToFasterBaseline(result, "", Times::kVary);
  EXPECT_GT(result.baselines.front().ratio.first, 1.9);
  EXPECT_EQ(result.baselines.back().ratio, std::pair(0.0, 0.0));
  YieldToFasterBaseline(result);
  EXPECT_GT(result.baselines.back().ratio.first, 2.9);
}

TEST(KeepFinalTimes, GivesOnePlanOneTime) {
  OptimizeResult result;
  result.best = Timed("anneal", 0, 1);
  result.baselines = {{"sequential", "", Timed("sequential", 1, 3), {3, 3}}};
  result.candidates = {Timed("anneal", 0, 9), Timed("sequential", 1, 9), Timed("heft", 2, 9)};
  KeepFinalTimes(result);
  EXPECT_EQ(result.candidates[0].target_seconds, 1);
  EXPECT_EQ(result.candidates[1].target_seconds, 3);
  EXPECT_EQ(result.candidates[2].target_seconds, 9);
}

TEST(JudgePredictions, TellsNoiseFromWrongOrder) {
  // The first two take the same but for noise; the third is slower for sure, and is predicted to be.
  const std::vector<Candidate> plans{Taking(Around(1.01), 0), Taking(Around(1), 1), Taking(Around(2), 2)};
  const std::vector<double> predicted{0.9, 1, 1.5};
  const ProxyJudgement judgement = JudgePredictions(predicted, {&plans[0], &plans[1], &plans[2]});
  EXPECT_DOUBLE_EQ(judgement.rank_correlation.value_or(0), 0.5);
  EXPECT_DOUBLE_EQ(judgement.told_apart.value_or(0), 1);
  EXPECT_NEAR(judgement.median_error.value_or(1), 1 - 0.9 / 1.01, 1e-12);
  EXPECT_NEAR(judgement.first_over_best.value_or(0), 1.01, 1e-12);
}

TEST(JudgePredictions, SaysNothingWhereNothingWasMeasured) {
  const ProxyJudgement judgement = JudgePredictions({}, {});
  EXPECT_FALSE(judgement.rank_correlation || judgement.told_apart || judgement.median_error ||
               judgement.first_over_best);
}

}  // namespace
}  // namespace millrace
