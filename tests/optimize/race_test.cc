// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/race.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/optimize/no_progress.h"
#include "tests/optimize/scripted_target.h"

namespace millrace {
namespace {

using testing::kNoProgress;
using testing::ScriptedTarget;

// Candidates told apart by their one group's device.
std::vector<Candidate> Candidates(int count) {
  std::vector<Candidate> candidates(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) candidates[static_cast<std::size_t>(i)].plan = Plan{{{0}}, {i}, {0}};
  return candidates;
}

TEST(Race, MeasuresADeterministicTargetOncePerCandidate) {
  ScriptedTarget target([](const Plan& plan, int) { return 1.0 + plan.placement[0]; }, true);
  std::vector<Candidate> candidates = Candidates(4);
  Race(target, candidates, RaceOptions{}, Deadline(), kNoProgress);
  EXPECT_EQ(target.runs(), 4);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(candidates[static_cast<std::size_t>(i)].target_seconds, 1.0 + i);
}

TEST(Race, StopsMeasuringClearlySlowPlansEarly) {
  ScriptedTarget target([](const Plan& plan, int) { return plan.placement[0] < 3 ? 1.0 : 9.0; });
  std::vector<Candidate> candidates = Candidates(10);
  RaceOptions options;
  options.rounds = 20;
  Race(target, candidates, options, Deadline(), kNoProgress);
  for (const Candidate& candidate : candidates) {
    EXPECT_EQ(candidate.times.size(), candidate.plan.placement[0] < 3 ? 20U : 3U);
    EXPECT_EQ(candidate.target_seconds, candidate.plan.placement[0] < 3 ? 1.0 : 9.0);
  }
}

TEST(Race, KeepsAPlanWhoseFastestRunKeepsUpThoughItsMedianDoesNot) {
  // Plan 5 is disturbed in most runs, but not slow: its fastest run says so.
  ScriptedTarget target([](const Plan& plan, int run) { return plan.placement[0] == 5 && run % 3 != 0 ? 4.0 : 1.0; });
  std::vector<Candidate> candidates = Candidates(6);
  RaceOptions options;
  options.rounds = 12;
  Race(target, candidates, options, Deadline(), kNoProgress);
  EXPECT_EQ(candidates[5].times.size(), 12U);
}

TEST(Race, KeepsTheTimelineOfTheMedianRunWhereTheTargetTellsIt) {
  const auto script = [](const Plan& plan, int run) { return 1.0 + plan.placement[0] + (run == 1 ? 0.25 : 0.0); };
  for (const testing::Tells tells : {testing::Tells::kTimesAlone, testing::Tells::kTimelines}) {
    ScriptedTarget target(script, false, tells);
    std::vector<Candidate> candidates = Candidates(2);
    RaceOptions options;
    options.rounds = 3;
    Race(target, candidates, options, Deadline(), kNoProgress);
    EXPECT_EQ(target.runs(), 6);
    for (const Candidate& candidate : candidates) {
      EXPECT_EQ(candidate.times.size(), 3U);
      ASSERT_EQ(candidate.measured.has_value(), tells == testing::Tells::kTimelines);
      if (candidate.measured) {
        EXPECT_EQ(candidate.measured->makespan, candidate.target_seconds);
        EXPECT_EQ(candidate.group_seconds[0], *candidate.target_seconds);
      }
    }
  }
}

TEST(Race, RecordsAFailureAndGoesOnWithTheOthers) {
  ScriptedTarget target([](const Plan& plan, int run) -> double {
    if (plan.placement[0] == 1 && run == 2) throw MeasurementFailed("the board caught fire");
    return 1.0;
  });
  std::vector<Candidate> candidates = Candidates(3);
  Race(target, candidates, RaceOptions{}, Deadline(), kNoProgress);
  EXPECT_EQ(candidates[1].failure, "the board caught fire");
  EXPECT_FALSE(candidates[1].target_seconds);
  EXPECT_EQ(candidates[0].target_seconds, 1.0);
  EXPECT_EQ(candidates[2].target_seconds, 1.0);
}

TEST(Race, LeavesAloneWhatAnEarlierRunMeasured) {
  ScriptedTarget target([](const Plan&, int) { return 2.0; }, true);
  std::vector<Candidate> candidates = Candidates(3);
  candidates[0].target_seconds = 7.0;
  candidates[1].failure = "crashed last time";
  Race(target, candidates, RaceOptions{}, Deadline(), kNoProgress);
  EXPECT_EQ(target.runs(), 1);
  EXPECT_EQ(candidates[0].target_seconds, 7.0);
  EXPECT_EQ(candidates[1].failure, "crashed last time");
  EXPECT_EQ(candidates[2].target_seconds, 2.0);
}

TEST(Race, RunsEveryCandidateOnceEvenWhenTimeIsUp) {
  ScriptedTarget target([](const Plan&, int) { return 2.0; });
  std::vector<Candidate> candidates = Candidates(5);
  Race(target, candidates, RaceOptions{}, Deadline(0.0), kNoProgress);
  EXPECT_EQ(target.runs(), 5);
  for (const Candidate& candidate : candidates) EXPECT_TRUE(candidate.target_seconds);
}

TEST(Race, RunsTheFirstCandidateAloneAfterTheEndOfEverything) {
  ScriptedTarget target([](const Plan&, int) { return 2.0; });
  std::vector<Candidate> candidates = Candidates(5);
  RaceOptions options;
  options.end = Deadline(0.0);
  Race(target, candidates, options, Deadline(), kNoProgress);
  EXPECT_EQ(target.runs(), 1);
  EXPECT_EQ(candidates[0].target_seconds, 2.0);
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    EXPECT_FALSE(candidates[i].target_seconds);
    EXPECT_EQ(candidates[i].failure, "");
  }
}

TEST(Race, RunsWhatMustNotBeMissingWhereTheRaceHasNoTimeButTheWholeRunHas) {
  ScriptedTarget target([](const Plan&, int) { return 2.0; });
  std::vector<Candidate> candidates = Candidates(5);
  RaceOptions options;
  options.end = Deadline(3600.0);
  options.sought_ones = 3;
  Race(target, candidates, options, Deadline(0.0), kNoProgress);
  EXPECT_EQ(target.runs(), 3);
  for (std::size_t i = 0; i < candidates.size(); ++i) EXPECT_EQ(candidates[i].target_seconds.has_value(), i < 3);
}

TEST(Race, NeverReportsMoreDoneThanTotal) {
  ScriptedTarget target([](const Plan& plan, int) { return plan.placement[0] < 2 ? 1.0 : 5.0; });
  std::vector<Candidate> candidates = Candidates(8);
  int last = 0;
  Race(target, candidates, RaceOptions{}, Deadline(), [&last](int done, int total) {
    EXPECT_LE(done, total);
    EXPECT_GE(done, last);
    last = done;
  });
  EXPECT_EQ(last, target.runs());
}

}  // namespace
}  // namespace millrace
