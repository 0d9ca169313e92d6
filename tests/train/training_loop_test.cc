// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/training_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "millrace/errors/errors.h"

namespace millrace {
namespace {

using testing::ElementsAre;

// Writes down what it is asked to do.
class Course final : public TrainingLoop {
 public:
  explicit Course(std::int64_t done = 0) : done_(done) {}

  void Run(const LoopOptions& options) { RunToEnd(options); }
  const std::vector<std::string>& said() const { return said_; }
  double seconds() const { return Seconds(); }
  double seconds_here() const { return SecondsHere(); }
  const std::vector<double>& progress() const { return progress_; }

  std::int64_t interrupted_in = -1;  // update
  std::int64_t fails_in = -1;

 private:
  std::int64_t UpdatesDone() const override { return done_; }
  bool HasBest() const override { return has_best_; }
  void Update() override {
    if (done_ == interrupted_in) throw Interrupted();
    if (done_ == fails_in) throw WorkFailed("the loss is not finite");
    progress_.push_back(Progress());
    said_.push_back("update " + std::to_string(++done_));
  }
  void Validate() override {
    has_best_ = true;
    said_.emplace_back("validate");
  }
  void SaveBest() const override { said_.emplace_back("save best"); }
  void SaveCheckpoint() override { said_.emplace_back("save checkpoint"); }

  std::int64_t done_;
  bool has_best_ = false;
  mutable std::vector<std::string> said_;
  std::vector<double> progress_;
};

LoopOptions Updates(std::int64_t updates, std::int64_t validate_every) {
  LoopOptions options;
  options.updates = updates;
  options.validate_every = validate_every;
  options.checkpoint = "weights.checkpoint";
  return options;
}

TEST(TrainingLoop, ValidatesInBetweenAndWhatCameLast) {
  Course course;
  course.Run(Updates(3, 2));
  EXPECT_THAT(course.said(),
              ElementsAre("update 1", "update 2", "validate", "update 3", "validate", "save checkpoint", "save best"));
  Course even;
  even.Run(Updates(2, 2));
  EXPECT_THAT(even.said(), ElementsAre("update 1", "update 2", "validate", "save checkpoint", "save best"));
}

TEST(TrainingLoop, WithNothingLeftToDoStillHasWeightsToKeep) {
  Course course(4);
  course.Run(Updates(4, 2));
  EXPECT_THAT(course.said(), ElementsAre("validate", "save checkpoint", "save best"));
}

TEST(TrainingLoop, WritesNoCheckpointWithoutAFileForIt) {
  LoopOptions options = Updates(1, 1);
  options.checkpoint.clear();
  options.checkpoint_seconds = 0;
  Course course;
  course.Run(options);
  EXPECT_THAT(course.said(), ElementsAre("update 1", "validate", "save best"));
}

TEST(TrainingLoop, WritesCheckpointsBetweenUpdatesWhenTheirTimeHasCome) {
  LoopOptions options = Updates(2, 2);
  options.checkpoint_seconds = 0;
  Course course;
  course.Run(options);
  EXPECT_THAT(course.said(), ElementsAre("update 1", "save checkpoint", "update 2", "validate", "save checkpoint",
                                         "save checkpoint", "save best"));
}

TEST(TrainingLoop, AnInterruptionSavesTheCheckpointAndTheBest) {
  Course course;
  course.interrupted_in = 1;
  EXPECT_THROW(course.Run(Updates(9, 5)), Interrupted);
  EXPECT_THAT(course.said(), ElementsAre("update 1", "save checkpoint", "save best"));
}

TEST(TrainingLoop, AFailureSaysInWhichUpdateAndLeavesTheLastCheckpointAlone) {
  Course course;
  course.fails_in = 2;
  try {
    course.Run(Updates(9, 1));
    FAIL() << "it did not throw";
  } catch (const WorkFailed& error) {
    EXPECT_STREQ(error.what(),
                 "update 3: the loss is not finite; the last good checkpoint (weights.checkpoint) and the best weights "
                 "so far are kept");
  }
  EXPECT_THAT(course.said(), ElementsAre("update 1", "validate", "update 2", "validate", "save best"));
}

TEST(TrainingLoop, TimeSpentByEarlierRunsCounts) {
  LoopOptions options = Updates(1'000'000'000, 1'000'000'000);
  options.time_limit = 100;
  options.seconds_before = 100;
  Course course(5);
  course.Run(options);
  EXPECT_THAT(course.said(), ElementsAre("validate", "save checkpoint", "save best"));
  EXPECT_GE(course.seconds(), 100);
  EXPECT_LT(course.seconds_here(), 100);
}

TEST(TrainingLoop, ProgressIsThatOfTheNearerLimit) {
  Course course;
  course.Run(Updates(4, 4));
  EXPECT_THAT(course.progress(), ElementsAre(0, 0.25, 0.5, 0.75));
  LoopOptions late = Updates(4, 4);
  late.time_limit = 1e6;
  late.seconds_before = 9e5;
  Course timed;
  timed.Run(late);
  for (const double progress : timed.progress()) EXPECT_GE(progress, 0.9);
}

}  // namespace
}  // namespace millrace
