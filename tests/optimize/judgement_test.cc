// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/judgement.h"

#include <gtest/gtest.h>

namespace millrace {
namespace {

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

}  // namespace
}  // namespace millrace
