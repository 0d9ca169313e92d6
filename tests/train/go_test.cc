// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/go_trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/machine/preset.h"
#include "millrace/plan/verify.h"
#include "millrace/policy/one_shot_policy.h"
#include "millrace/train/plan_reward.h"
#include "millrace/workloads/random_graph.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;

class Silent : public GoObserver {
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

  static std::vector<GoProblem> Problems(int count, std::int64_t ops = 60) {
    std::vector<GoProblem> problems;
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
    options.settings.examples = 2;
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
  const std::vector<GoProblem> problems = Problems(1);
  GoTrainerOptions options = Options("better", 30);
  options.settings.samples = 8;
  options.settings.learning_rate = 5e-3;
  options.settings.last_learning_rate = 1e-3;
  options.settings.average_decay = 0.8;
  options.settings.validate_every = 30;
  options.settings.passes = 1;
  Silent observer;
  const GoSummary summary = TrainGo(problems, {}, options, std::nullopt, observer);
  double first = 0, last = 0;
  for (std::size_t i = 0; i < 5; ++i) {
    first += observer.reports[i].mean / 5;
    last += observer.reports[observer.reports.size() - 1 - i].mean / 5;
  }
  EXPECT_GT(last, first * 1.02);
  EXPECT_EQ(summary.updates, 30);
  EXPECT_EQ(summary.evaluations, 30 * 8 * 2);
  EXPECT_NO_THROW(OneShotPolicy(ReadWeights(options.output)));
}

TEST_F(GoTest, ItsBestDecisionsAreAValidPlanThatTakesWhatItSays) {
  const std::vector<GoProblem> problems = Problems(1);
  GoTrainerOptions options = Options("plan", 3);
  options.settings.tasks = {"placement", "priority", "fusion"};
  Silent observer;
  const GoSummary summary = TrainGo(problems, {}, options, std::nullopt, observer);
  ASSERT_EQ(summary.best.size(), 1U);
  const OneShotPlan plan = problems[0].decoder().Decode(summary.best[0].decisions);
  EXPECT_EQ(WhyNotValid(problems[0].graph(), problems[0].machine(), plan.plan()), std::nullopt);
  EXPECT_EQ(UsableSeconds(*plan.costed, plan.assignment), summary.best[0].seconds);
}

TEST_F(GoTest, EndsInTheSameWeightsAtAnyNumberOfThreadsAndHoweverOftenItWasStopped) {
  const std::vector<GoProblem> problems = Problems(3, 40);
  Silent observer;
  const GoTrainerOptions whole = Options("whole", 8);
  TrainGo(problems, {}, whole, std::nullopt, observer);

  GoTrainerOptions threads = Options("threads", 8);
  threads.threads = 3;
  TrainGo(problems, {}, threads, std::nullopt, observer);
  EXPECT_EQ(ReadWeights(whole.output), ReadWeights(threads.output));

  // Stopped after half of it: the learning rates must be those of the whole.
  const GoTrainerOptions part = Options("part", 8);
  class Stopping : public Silent {
   public:
    void OnUpdate(const GoReport& report) override {
      if (report.update == 5) throw WorkFailed("stopped");
    }
  } stopping;
  GoTrainerOptions often = part;
  often.checkpoint_seconds = 1e-9;
  EXPECT_THROW(TrainGo(problems, {}, often, std::nullopt, stopping), WorkFailed);
  const GoCheckpoint checkpoint = ReadGoCheckpoint(part.checkpoint);
  EXPECT_EQ(checkpoint.update, 4);
  TrainGo(problems, {}, part, checkpoint, observer);
  EXPECT_EQ(ReadWeights(whole.output), ReadWeights(part.output));
}

TEST_F(GoTest, TasksThatAreOffKeepTheirDefault) {
  const std::vector<GoProblem> problems = Problems(1, 30);
  for (const char* task : {"placement", "priority", "fusion"}) {
    GoTrainerOptions options = Options(task, 2);
    options.settings.tasks = {task};
    options.settings.imitation = options.settings.last_imitation = 0;
    Silent observer;
    const Decisions best = TrainGo(problems, {}, options, std::nullopt, observer).best[0].decisions;
    EXPECT_EQ(best.Has(Task::kPlacement), std::string(task) == "placement");
    EXPECT_EQ(best.Has(Task::kPriority), std::string(task) == "priority");
    EXPECT_EQ(best.Has(Task::kFusion), std::string(task) == "fusion");
  }
}

TEST_F(GoTest, RefusesToResumeWithOtherProblemsAndSaysSo) {
  const GoTrainerOptions options = Options("other", 1);
  Silent observer;
  TrainGo(Problems(1), {}, options, std::nullopt, observer);
  try {
    TrainGo(Problems(2), {}, options, ReadGoCheckpoint(options.checkpoint), observer);
    FAIL() << "it went on with other problems";
  } catch (const InvalidInput& error) {
    EXPECT_THAT(error.what(), HasSubstr("the very problems"));
  }
}

TEST(GoProblem, ExpertsGiveDecisionsThatTakeWhatTheySay) {
  Random random(5);
  int asked = 0;
  for (int i = 0; i < 20; ++i) {
    ComputationGraph graph = testing::RandomGraph(random, {.memory = true});
    if (graph.num_ops() == 0) continue;
    const GoProblem problem("odd", std::move(graph), testing::RandomMachine(random, {.memory = true}));
    const KnownDecisions known = AskExperts(problem, {.evaluations = 20, .seconds = {}}, random).known;
    if (!std::isfinite(known.seconds)) continue;
    ++asked;
    EXPECT_EQ(problem.Seconds(known.decisions), known.seconds);
    EXPECT_GT(problem.reference_seconds(), 0);
  }
  EXPECT_GT(asked, 5);
}

TEST(GoProblem, ExpertsThatStartFromDecisionsKeepTheirFusionAndAreNoWorse) {
  Random random(11);
  int better = 0;
  for (int i = 0; i < 10; ++i) {
    const GoProblem problem("random", MakeRandomGraph("er", {.ops = 60, .ccr = 2, .seed = random.Below(1000)}),
                            *MachinePreset("homogeneous:3,latency=0,bandwidth=1e9"));
    Decisions start;
    for (int tie = 0; tie < problem.one_shot().num_ties(); ++tie)
      start.device.push_back(static_cast<std::int32_t>(random.Below(3)));
    for (int row = 0; row < problem.one_shot().num_rows(); ++row) {
      start.priority.push_back(static_cast<std::uint8_t>(random.Below(kLevels)));
      start.fusion.push_back(static_cast<std::uint8_t>(random.Below(kLevels)));
    }
    const ExpertAnswer answer = AskExperts(problem, {.evaluations = 60, .seconds = {}, .start = &start}, random);
    EXPECT_EQ(answer.known.decisions.fusion, start.fusion);
    EXPECT_EQ(problem.Seconds(answer.known.decisions), answer.known.seconds);
    EXPECT_LE(answer.known.seconds, problem.Seconds(start));
    EXPECT_GE(answer.evaluations, 60);
    if (answer.known.seconds < problem.Seconds(start)) ++better;
  }
  EXPECT_GE(better, 8);
}

TEST(GoProblem, ExpertsNumberEqualDevicesByTheWorkTheyDo) {
  // Two chains that follow one another: whoever takes the first half is device 0.
  const GoProblem problem("layered", MakeRandomGraph("layered", {.ops = 80, .ccr = 5, .seed = 2}),
                          *MachinePreset("homogeneous:4,latency=0,bandwidth=1e9"));
  Random random(1);
  const KnownDecisions known = AskExperts(problem, {.evaluations = 100, .seconds = {}}, random).known;
  ASSERT_TRUE(std::isfinite(known.seconds));
  std::vector<double> position(4, 0), ops(4, 0);
  const OneShotProblem& one_shot = problem.one_shot();
  for (std::int32_t row = 0; row < one_shot.num_rows(); ++row) {
    const auto device = static_cast<std::size_t>(known.decisions.device[static_cast<std::size_t>(one_shot.TieOf(row))]);
    position[device] += one_shot.progress()[static_cast<std::size_t>(row)];
    ops[device] += 1;
  }
  double before = -1;
  for (std::size_t d = 0; d < 4; ++d) {
    if (ops[d] == 0) continue;
    EXPECT_GE(position[d] / ops[d], before);
    before = position[d] / ops[d];
  }
}

TEST(GoSettings, ReadBackWhatWasWritten) {
  GoSettings settings;
  settings.tasks = {"fusion", "placement"};
  settings.workloads = {"gnmt-2-short"};
  settings.updates = 7;
  settings.imitation = 0.25;
  EXPECT_EQ(GoSettingsJson(ParseGoSettings(GoSettingsJson(settings))), GoSettingsJson(settings));
  EXPECT_THAT(TasksOf(settings), ::testing::ElementsAre(Task::kPlacement, Task::kFusion));
}

TEST(GoSettings, AreRefusedByName) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"tasks":["packing"]})", "packing"},    {R"({"tasks":[]})", "tasks"},  {R"({"samples":1})", "samples"},
      {R"({"iterations":0})", "iterations"},      {R"({"colour":1})", "colour"}, {R"({"updates":"many"})", "updates"},
      {R"({"learning_rate":2})", "learning_rate"}};
  for (const auto& [text, name] : cases) {
    try {
      ParseGoSettings(text);
      FAIL() << text;
    } catch (const InvalidInput& error) {
      EXPECT_THAT(error.what(), HasSubstr(name));
    }
  }
}

TEST(GoSettings, PresetsAreUnderstood) {
  EXPECT_FALSE(ReadGoSettings(MILLRACE_PRESETS "/go.json").workloads.empty());
  EXPECT_LT(ReadGoSettings(MILLRACE_PRESETS "/go-finetune.json").updates, 50);
}

}  // namespace
}  // namespace millrace
