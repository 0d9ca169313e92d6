// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/go/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/go/own_logits.h"
#include "millrace/go/policy.h"
#include "millrace/machine/preset.h"
#include "millrace/plan/verify.h"
#include "millrace/train/torch/plan_reward.h"
#include "millrace/workloads/random_graph.h"
#include "tests/train/torch/train_on_ranks.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;

class GoReports : public GoObserver {
 public:
  void OnUpdate(const GoReport& report) override { reports.push_back(report); }
  void OnValidation(const GoReport&, const GoValidation& validation, bool) override {
    validations.push_back(validation);
  }
  std::vector<GoReport> reports;
  std::vector<GoValidation> validations;
};

class GoTest : public ::testing::Test {
 protected:
  GoTest() : folder_(std::filesystem::temp_directory_path() / ("millrace_go_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~GoTest() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }

  static std::vector<GoTrainingProblem> Problems(int count, std::int64_t ops = 60) {
    std::vector<GoTrainingProblem> problems;
    for (int i = 0; i < count; ++i) {
      problems.emplace_back("problem " + std::to_string(i),
                            MakeRandomGraph("layered", {.ops = ops, .ccr = 2, .seed = static_cast<std::uint64_t>(i)}),
                            *MachinePreset("homogeneous:3,latency=0,bandwidth=1e9"));
    }
    return problems;
  }

  GoTrainerOptions Options(const std::string& name, int updates) const {
    GoTrainerOptions options;
    options.settings.tasks = {"placement", "priority"};
    options.settings.updates = updates;
    options.settings.samples = 4;
    options.settings.iterations = 2;
    options.settings.most_steps = 4;
    options.settings.demonstrations = 2;
    options.settings.validate_every = 5;
    options.settings.validation_samples = 2;
    options.seed = 3;
    options.output = Path(name + ".safetensors");
    options.checkpoint = Path(name + ".checkpoint");
    return options;
  }

  std::filesystem::path folder_;
};

TEST_F(GoTest, MakesWhatItDrawsBetter) {
  const std::vector<GoTrainingProblem> problems = Problems(1);
  GoTrainerOptions options = Options("better", 30);
  options.settings.samples = 8;
  options.settings.learning_rate = 5e-3;
  options.settings.last_learning_rate = 1e-3;
  options.settings.average_decay = 0.8;
  options.settings.validate_every = 30;
  options.settings.passes = 1;
  GoReports observer;
  const GoSummary summary = TrainGo(problems, {}, options, std::nullopt, observer);
  double first = 0, last = 0;
  for (std::size_t i = 0; i < 5; ++i) {
    first += observer.reports[i].mean / 5;
    last += observer.reports[observer.reports.size() - 1 - i].mean / 5;
  }
  EXPECT_GT(last, first * 1.02);
  EXPECT_EQ(summary.updates, 30);
  EXPECT_EQ(summary.evaluations, 30 * 8 * 2);
  EXPECT_NO_THROW(GoPolicy(ReadWeights(options.output)));
}

TEST_F(GoTest, MakesWhatItDrawsBetterWhereOpsOfABlockShareChance) {
  const std::vector<GoTrainingProblem> problems = Problems(2, 40);
  GoTrainerOptions options = Options("blocks", 40);
  options.settings.samples = 8;
  options.settings.shared_noise = 4;
  options.settings.baseline_decay = 0;
  options.settings.learning_rate = 5e-3;
  options.settings.last_learning_rate = 1e-3;
  options.settings.average_decay = 0.8;
  options.settings.validate_every = 40;
  GoReports observer;
  TrainGo(problems, {}, options, std::nullopt, observer);
  double first = 0, last = 0;
  for (std::size_t i = 0; i < 5; ++i) {
    first += observer.reports[i].mean / 5;
    last += observer.reports[observer.reports.size() - 1 - i].mean / 5;
  }
  EXPECT_GT(last, first * 1.02);
}

TEST_F(GoTest, ItsBestDecisionsAreAValidPlanThatTakesWhatItSays) {
  const std::vector<GoTrainingProblem> problems = Problems(1);
  GoTrainerOptions options = Options("plan", 3);
  options.settings.tasks = {"placement", "priority", "fusion"};
  GoReports observer;
  const GoSummary summary = TrainGo(problems, {}, options, std::nullopt, observer);
  ASSERT_EQ(summary.best.size(), 1U);
  const DecodedPlan plan = problems[0].decoder().Decode(summary.best[0].decisions);
  EXPECT_EQ(WhyNotValid(problems[0].graph(), problems[0].machine(), plan.plan()), std::nullopt);
  EXPECT_EQ(UsableSeconds(*plan.costed, plan.assignment), summary.best[0].seconds);
}

TEST_F(GoTest, EndsInTheSameWeightsAtAnyNumberOfThreadsAndHoweverOftenItWasStopped) {
  const std::vector<GoTrainingProblem> problems = Problems(3, 40);
  GoReports observer;
  const GoTrainerOptions whole = Options("whole", 8);
  TrainGo(problems, {}, whole, std::nullopt, observer);

  GoTrainerOptions threads = Options("threads", 8);
  threads.threads = 3;
  TrainGo(problems, {}, threads, std::nullopt, observer);
  EXPECT_EQ(ReadWeights(whole.output), ReadWeights(threads.output));

  // Stopped after half of it: the learning rates must be those of the whole.
  const GoTrainerOptions part = Options("part", 8);
  class Stopping : public GoReports {
   public:
    void OnUpdate(const GoReport& report) override {
      if (report.update == 5) throw WorkFailed("stopped");
    }
  } stopping;
  GoTrainerOptions often = part;
  often.checkpoint_seconds = 1e-9;
  EXPECT_THROW(TrainGo(problems, {}, often, std::nullopt, stopping), WorkFailed);
  const Checkpoint checkpoint = ReadCheckpoint(part.checkpoint, kGoCheckpoint);
  EXPECT_EQ(checkpoint.update, 4);
  TrainGo(problems, {}, part, checkpoint, observer);
  EXPECT_EQ(ReadWeights(whole.output), ReadWeights(part.output));
}

TEST_F(GoTest, EndsInTheSameWeightsOnAnyNumberOfRanks) {
  const std::vector<GoTrainingProblem> problems = Problems(3, 40);
  GoTrainerOptions alone = Options("alone", 4);
  alone.settings.problems_per_update = 3;
  GoReports observer;
  const GoSummary summary = TrainGo(problems, {}, alone, std::nullopt, observer);
  for (const int size : {2, 3, 4}) {
    const GoTrainerOptions together = [&] {
      GoTrainerOptions options = Options("ranks" + std::to_string(size), 4);
      options.settings = alone.settings;
      return options;
    }();
    const std::string fault = testing::OnRanks(size, [&](mpi::Ranks& ranks) {
      GoTrainerOptions own = together;
      own.ranks = &ranks;
      GoReports unused;
      const GoSummary mine = TrainGo(problems, {}, own, std::nullopt, unused);
      EXPECT_EQ(mine.evaluations, summary.evaluations);
      EXPECT_EQ(mine.best[2].seconds, summary.best[2].seconds);
    });
    EXPECT_EQ(fault, "");
    EXPECT_EQ(ReadWeights(alone.output), ReadWeights(together.output)) << size << " ranks";
    EXPECT_EQ(ReadCheckpoint(alone.checkpoint, kGoCheckpoint).memory,
              ReadCheckpoint(together.checkpoint, kGoCheckpoint).memory);
  }
}

TEST_F(GoTest, TasksThatAreOffKeepTheirDefault) {
  const std::vector<GoTrainingProblem> problems = Problems(1, 30);
  for (const char* task : {"placement", "priority", "fusion"}) {
    GoTrainerOptions options = Options(task, 2);
    options.settings.tasks = {task};
    options.settings.demonstration_weight = options.settings.last_demonstration_weight = 0;
    GoReports observer;
    const Decisions best = TrainGo(problems, {}, options, std::nullopt, observer).best[0].decisions;
    EXPECT_EQ(best.Has(Task::kPlacement), std::string(task) == "placement");
    EXPECT_EQ(best.Has(Task::kPriority), std::string(task) == "priority");
    EXPECT_EQ(best.Has(Task::kFusion), std::string(task) == "fusion");
  }
}

TEST_F(GoTest, FineTunedToOneGraphItDrawsTheBestPlanThatItKnows) {
  const std::vector<GoTrainingProblem> problems = Problems(1);
  GoTrainerOptions options = Options("own", 10);
  options.settings.learning_rate = options.settings.last_learning_rate = 0;
  options.settings.own_margin = 6;
  options.settings.demonstration_evaluations = 200;
  options.settings.demonstration_searches = 10;
  GoReports observer;
  const GoSummary summary = TrainGo(problems, {}, options, std::nullopt, observer);
  EXPECT_LT(observer.validations.front().greedy, observer.validations.back().greedy + 1e-9);
  const double ratio = problems[0].reference_seconds() / summary.best[0].seconds;
  EXPECT_NEAR(observer.validations.back().greedy, ratio, 1e-9);
  EXPECT_GT(observer.validations.back().mean, observer.reports.front().mean * 1.05);

  const GoPolicy tuned(ReadWeights(options.output));
  EXPECT_NO_THROW(tuned.Prepare(problems[0].problem()));
  EXPECT_THROW(tuned.Prepare(Problems(2)[1].problem()), InvalidInput);
}

TEST_F(GoTest, WhatIsOneGraphsOwnIsKeptWhenFineTuningIsStoppedAndWhereItBeginsWithIt) {
  const std::vector<GoTrainingProblem> problems = Problems(1, 40);
  const auto tuned = [&](const std::string& name, int updates) {
    GoTrainerOptions options = Options(name, updates);
    options.settings.learning_rate = options.settings.last_learning_rate = 0;
    options.settings.own_margin = 6;
    options.settings.validate_every = 4;  // the same weights of both
    return options;
  };
  GoReports observer;
  const GoTrainerOptions whole = tuned("whole-own", 8);
  TrainGo(problems, {}, whole, std::nullopt, observer);
  const GoTrainerOptions half = tuned("half-own", 4);
  TrainGo(problems, {}, half, std::nullopt, observer);
  Checkpoint checkpoint = ReadCheckpoint(half.checkpoint, kGoCheckpoint);
  checkpoint.settings = SettingsJson(whole.settings);
  const GoTrainerOptions rest = tuned("rest-own", 8);
  TrainGo(problems, {}, rest, checkpoint, observer);
  EXPECT_EQ(ReadWeights(whole.output), ReadWeights(rest.output));

  GoTrainerOptions more = tuned("more-own", 0);
  more.start = ReadWeights(whole.output);
  TrainGo(problems, {}, more, std::nullopt, observer);
  EXPECT_EQ(TakeOwnLogits(ReadWeights(more.output)), TakeOwnLogits(*more.start));
}

TEST_F(GoTest, RefusesToLearnWhatIsOneGraphsOwnOfSeveral) {
  GoTrainerOptions options = Options("several", 1);
  options.settings.own_margin = 6;
  GoReports observer;
  try {
    TrainGo(Problems(2), {}, options, std::nullopt, observer);
    FAIL() << "it learned one table for two graphs";
  } catch (const InvalidInput& error) {
    EXPECT_THAT(error.what(), HasSubstr("own_margin is 6"));
  }
}

TEST_F(GoTest, RefusesToResumeWithOtherProblemsAndSaysSo) {
  const GoTrainerOptions options = Options("other", 1);
  GoReports observer;
  TrainGo(Problems(1), {}, options, std::nullopt, observer);
  try {
    TrainGo(Problems(2), {}, options, ReadCheckpoint(options.checkpoint, kGoCheckpoint), observer);
    FAIL() << "it went on with other problems";
  } catch (const InvalidInput& error) {
    EXPECT_THAT(error.what(), HasSubstr("the very problems"));
  }
}

}  // namespace
}  // namespace millrace
