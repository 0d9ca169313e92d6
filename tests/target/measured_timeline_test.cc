// SPDX-License-Identifier: Apache-2.0
#include "millrace/target/measured_timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace {
namespace {

using ::testing::ElementsAre;

// One group, from `start` to `start` + `seconds`, in a run that ends then.
TimedRun RunOf(double start, double seconds) {
  return {start + seconds, {{start}, {start + seconds}, start + seconds}};
}

class Scripted final : public LoadedPlan {
 public:
  explicit Scripted(std::vector<TimedRun> runs) : runs_(std::move(runs)) {}
  double Run() override { return 1; }
  std::optional<TimedRun> RunTimed() override {
    if (next_ == runs_.size()) throw MeasurementFailed("no more runs");
    return runs_[next_++];
  }

 private:
  std::vector<TimedRun> runs_;
  std::size_t next_ = 0;
};

class Silent final : public LoadedPlan {
 public:
  double Run() override { return 1; }
};

TEST(TimelineOf, SpansAllUnitsOfAGroupAndItsChangesOfLayout) {
  const std::vector<StepTime> steps = {{0, 1, 0, 0.5, 1.0},   // a change of layout for group 1
                                       {1, 1, 0, 1.25, 2.0},  // group 1 on two units
                                       {2, 0, 0, 2.0, 2.5},
                                       {0, 1, 1, 0.25, 1.0},
                                       {1, 1, 1, 1.0, 2.25}};
  const Timeline timeline = TimelineOf(steps, 3);
  EXPECT_THAT(timeline.start, ElementsAre(2.0, 0.25, 0.0));
  EXPECT_THAT(timeline.finish, ElementsAre(2.5, 2.25, 0.0));
  EXPECT_EQ(timeline.makespan, 2.5);
}

TEST(MedianOfRuns, KeepsTheRunInTheMiddleAndEachGroupsMedian) {
  const auto measured = MedianOf({RunOf(5, 1), RunOf(0, 2), RunOf(1, 9)});
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->run_seconds, 6);
  EXPECT_THAT(measured->run.start, ElementsAre(5));
  EXPECT_THAT(measured->group_seconds, ElementsAre(2));
  EXPECT_EQ(measured->runs, 3);
  EXPECT_FALSE(MedianOf({}));
}

TEST(MedianOfRuns, TakesTheFasterOfTwoInTheMiddle) { EXPECT_EQ(MedianOf({RunOf(0, 4), RunOf(0, 3)})->run_seconds, 3); }

TEST(MeasureTimeline, TellsNothingWhereTheTargetCannotOrARunFails) {
  Silent silent;
  EXPECT_FALSE(MeasureTimeline(silent, 3));
  Scripted two({RunOf(0, 1), RunOf(0, 2)});
  EXPECT_FALSE(MeasureTimeline(two, 3));
  Scripted three({RunOf(0, 1), RunOf(0, 2), RunOf(0, 3)});
  EXPECT_EQ(MeasureTimeline(three, 3)->run_seconds, 2);
}

}  // namespace
}  // namespace millrace
