// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/torch/training_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "millrace/errors/errors.h"
#include "tests/reference/temporary_folder.h"

namespace millrace {
namespace {

using ::testing::ElementsAre;

constexpr CheckpointKind kLoopKind = {
    .format = "test.checkpoint", .trained_on = "graphs", .check = [](const Checkpoint&) {}};

Weights Number(double number) {
  Weights weights;
  weights.tensors["number"] = {.shape = {1}, .values = {static_cast<float>(number)}};
  return weights;
}

double NumberIn(const Weights& weights) { return weights.tensors.at("number").values.at(0); }

// Counts its updates; writes down what is asked of it.
class CountingLearner final : public Learner {
 public:
  explicit CountingLearner(std::vector<std::string>& said) : said_(said) {}

  Weights weights() const override { return Number(count); }
  Weights average() const override { return Number(count + 0.5); }
  Weights Save() const override {
    said_.emplace_back("save");
    return Number(count);
  }
  void Load(const Weights& saved) override {
    said_.emplace_back("load");
    count = NumberIn(saved);
  }

  double count = 0;

 private:
  std::vector<std::string>& said_;
};

class CountingLoop final : public TrainingLoop {
 public:
  explicit CountingLoop(const TrainingOptions& options, const std::optional<Checkpoint>& resume = std::nullopt,
                        const std::string& graphs = "")
      : TrainingLoop(options, kLoopKind, {.settings = "{}", .trained_on = graphs}, resume) {}

  TrainingSummary Run(std::int64_t updates, std::int64_t validate_every) { return RunToEnd(updates, validate_every); }

  double seconds() const { return Seconds(); }
  double seconds_here() const { return SecondsHere(); }

  std::vector<std::string> said;
  std::vector<double> progress;
  std::vector<double> scores = {1};  // one validation after the other, the last one again
  std::int64_t interrupted_in = -1;  // update
  std::int64_t fails_in = -1;

 private:
  Learner& learner() override { return counter_; }
  void Update() override {
    if (state().update == interrupted_in) throw Interrupted();
    if (state().update == fails_in) throw WorkFailed("the loss is not finite");
    progress.push_back(Progress());
    ++counter_.count;
  }
  void ReportUpdate() override { said.push_back("update " + std::to_string(state().update)); }
  double Validate(const Weights& average) override {
    EXPECT_EQ(NumberIn(average), counter_.count + 0.5);
    const double score = scores.front();
    if (scores.size() > 1) scores.erase(scores.begin());
    return score;
  }
  void ReportValidation(bool kept) override { said.emplace_back(kept ? "validate, kept" : "validate"); }
  void Describe(std::map<std::string, std::string>& metadata) const override { metadata["by"] = "test"; }
  Weights Memory() const override { return Number(-counter_.count); }

  CountingLearner counter_{said};
};

class TrainingLoopTest : public ::testing::Test {
 protected:
  TrainingLoopTest() {
    options_.seed = 9;
    options_.output = folder_.Path("weights");
    options_.checkpoint = folder_.Path("checkpoint");
  }

  Checkpoint Kept() const { return ReadCheckpoint(options_.checkpoint, kLoopKind); }
  Weights Output() const { return ReadWeights(options_.output); }

  testing::TemporaryFolder folder_;
  TrainingOptions options_;
};

TEST_F(TrainingLoopTest, ValidatesInBetweenAndWhatCameLast) {
  CountingLoop loop(options_);
  EXPECT_EQ(loop.Run(3, 2).updates, 3);
  EXPECT_THAT(loop.said, ElementsAre("update 1", "update 2", "validate, kept", "update 3", "validate", "save"));
  CountingLoop even(options_);
  even.Run(2, 2);
  EXPECT_THAT(even.said, ElementsAre("update 1", "update 2", "validate, kept", "save"));
}

TEST_F(TrainingLoopTest, TheOutputIsTheAverageThatValidatedBestAndSaysWhereItIsFrom) {
  CountingLoop loop(options_);
  loop.scores = {1, 3, 2};
  EXPECT_EQ(loop.Run(3, 1).best_score, 3);
  const Weights output = Output();
  EXPECT_EQ(NumberIn(output), 2.5);
  EXPECT_EQ(output.metadata.at("trained_updates"), "2");
  EXPECT_EQ(output.metadata.at("training_seed"), "9");
  EXPECT_EQ(output.metadata.at("by"), "test");
}

TEST_F(TrainingLoopTest, GoesOnFromACheckpointWithItsSeedLearnerMemoryAndBest) {
  CountingLoop first(options_);
  first.scores = {3, 1};
  first.Run(4, 2);
  const Checkpoint kept = Kept();
  EXPECT_EQ(kept.update, 4);
  EXPECT_EQ(kept.settings, "{}");
  EXPECT_EQ(NumberIn(kept.learner), 4);
  EXPECT_EQ(NumberIn(kept.memory), -4);
  options_.seed = 1;
  options_.output = folder_.Path("other");
  CountingLoop second(options_, kept);
  second.scores = {2};
  EXPECT_EQ(second.Run(6, 2).best_score, 3);
  EXPECT_THAT(second.said, ElementsAre("load", "update 5", "update 6", "validate", "save"));
  EXPECT_EQ(NumberIn(Output()), 2.5);
  EXPECT_EQ(NumberIn(Kept().learner), 6);
  EXPECT_EQ(Kept().seed, 9u);
}

TEST_F(TrainingLoopTest, RefusesToGoOnWithOtherGraphs) {
  CountingLoop(options_, std::nullopt, "a b").Run(1, 1);
  EXPECT_NO_THROW(CountingLoop(options_, Kept(), "a b"));
  EXPECT_THROW(CountingLoop(options_, Kept(), "a c"), InvalidInput);
}

TEST_F(TrainingLoopTest, WithNothingLeftToDoStillHasWeightsToKeep) {
  Checkpoint done;
  done.update = 4;
  done.learner = Number(4);
  CountingLoop loop(options_, done);
  loop.Run(4, 2);
  EXPECT_THAT(loop.said, ElementsAre("load", "validate, kept", "save"));
}

TEST_F(TrainingLoopTest, WritesNoCheckpointWithoutAFileForIt) {
  options_.checkpoint.clear();
  options_.checkpoint_seconds = 0;
  CountingLoop loop(options_);
  loop.Run(1, 1);
  EXPECT_THAT(loop.said, ElementsAre("update 1", "validate, kept"));
}

TEST_F(TrainingLoopTest, WritesCheckpointsBetweenUpdatesWhenTheirTimeHasCome) {
  options_.checkpoint_seconds = 0;
  CountingLoop loop(options_);
  loop.Run(2, 2);
  EXPECT_THAT(loop.said, ElementsAre("update 1", "save", "update 2", "validate, kept", "save", "save"));
}

TEST_F(TrainingLoopTest, AnInterruptionSavesTheCheckpointAndTheBest) {
  CountingLoop loop(options_);
  loop.interrupted_in = 2;
  EXPECT_THROW(loop.Run(9, 1), Interrupted);
  EXPECT_EQ(loop.said.back(), "save");
  EXPECT_EQ(Kept().update, 2);
  EXPECT_EQ(NumberIn(Output()), 1.5);
}

TEST_F(TrainingLoopTest, AFailureSaysInWhichUpdateAndLeavesTheLastCheckpointAlone) {
  CountingLoop loop(options_);
  loop.fails_in = 2;
  try {
    loop.Run(9, 1);
    FAIL() << "it did not throw";
  } catch (const WorkFailed& error) {
    EXPECT_EQ(error.what(), "update 3: the loss is not finite; the last good checkpoint (" + options_.checkpoint +
                                ") and the best weights so far are kept");
  }
  EXPECT_THAT(loop.said, ElementsAre("update 1", "validate, kept", "update 2", "validate"));
  EXPECT_FALSE(std::filesystem::exists(options_.checkpoint));
  EXPECT_EQ(NumberIn(Output()), 1.5);
}

TEST_F(TrainingLoopTest, TimeSpentByEarlierRunsCounts) {
  Checkpoint begun;
  begun.update = 5;
  begun.learner = Number(5);
  begun.seconds = begun.time_limit = 100;
  CountingLoop loop(options_, begun);
  loop.Run(1'000'000'000, 1'000'000'000);
  EXPECT_THAT(loop.said, ElementsAre("load", "validate, kept", "save"));
  EXPECT_GE(loop.seconds(), 100);
  EXPECT_LT(loop.seconds_here(), 100);
}

TEST_F(TrainingLoopTest, ProgressIsThatOfTheNearerLimit) {
  CountingLoop loop(options_);
  loop.Run(4, 4);
  EXPECT_THAT(loop.progress, ElementsAre(0, 0.25, 0.5, 0.75));
  Checkpoint begun;
  begun.learner = Number(0);
  begun.seconds = 9e5;
  options_.time_limit = 1e6;
  CountingLoop timed(options_, begun);
  timed.Run(4, 4);
  for (const double progress : timed.progress) EXPECT_GE(progress, 0.9);
}

}  // namespace
}  // namespace millrace
