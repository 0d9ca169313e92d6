// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/gflownet/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <thread>

#include "millrace/errors/errors.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/gflownet/environment/graph_features.h"
#include "millrace/gflownet/policy/learned_policy.h"
#include "millrace/gflownet/policy/message_passing.h"
#include "millrace/gflownet/policy/topoformer.h"
#include "millrace/gflownet/sampling/sampler.h"
#include "millrace/heuristics/list_schedulers.h"
#include "millrace/simulate/timeline.h"
#include "millrace/train/gflownet/finetune.h"
#include "millrace/train/gflownet/learner.h"
#include "tests/train/torch/train_on_ranks.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class LastValidation : public GFlowNetObserver {
 public:
  void OnUpdate(const GFlowNetReport&) override {}
  void OnValidation(const GFlowNetReport&, const std::vector<ValidationScore>& scores, bool) override {
    last = Overall(scores);
  }
  void OnExactness(const GFlowNetReport&, const std::vector<ExactnessScore>&, bool) override {}
  ValidationScore last;
};

class TrainingTest : public ::testing::Test {
 protected:
  TrainingTest() : folder_(std::filesystem::temp_directory_path() / ("millrace_train_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~TrainingTest() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  std::string Write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name) << content;
    return Path(name);
  }
  static std::string ContentOf(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  // The program in a process of its own.
  static pid_t Start(std::vector<std::string> words, const std::string& errors) {
    words.insert(words.begin(), MILLRACE_TRAIN_PROGRAM);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      if (std::freopen(errors.c_str(), "w", stderr) == nullptr) ::_exit(126);
      ::execv(arguments[0], arguments.data());
      ::_exit(127);
    }
    return child;
  }
  static int Finish(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
  }
  int Run(const std::vector<std::string>& words, std::string* line = nullptr) const {
    const int status = Finish(Start(words, Path("errors.txt")));
    if (line != nullptr) *line = ContentOf(Path("errors.txt"));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  static GFlowNetSettings Small() {
    GFlowNetSettings settings;
    settings.graphs_per_update = 2;
    settings.trajectories = 16;
    settings.lowest_temperature = 0.02;
    settings.highest_temperature = 0.2;
    settings.learning_rate = 2e-3;
    settings.validation_graphs = 1;
    settings.validation_samples = 16;
    settings.validation_temperatures = {0.03};
    settings.problems.fewest_ops = 15;
    settings.problems.most_ops = 40;
    return settings;
  }

  std::filesystem::path folder_;
};

// The initial prior's strengths are well chosen; training has to find such by itself from weak ones.
Weights WithWeakPrior() {
  Random random(1);
  Weights weights = InitialMessagePassingWeights(random);
  for (const char* head : {"group.strength.bias", "device.strength.bias"}) {
    for (float& value : weights.tensors.at(head).values) value = -3;
  }
  return weights;
}

TEST_F(TrainingTest, MakesWeakWeightsBetterOnUnseenGraphs) {
  GFlowNetTrainerOptions options;
  options.settings = Small();
  options.settings.updates = 0;
  options.settings.validate_every = 1000;
  options.start = WithWeakPrior();
  options.output = Path("before.safetensors");
  LastValidation before, after;
  TrainGFlowNet(options, std::nullopt, before);
  options.settings.updates = 150;
  options.output = Path("after.safetensors");
  const TrainingSummary summary = TrainGFlowNet(options, std::nullopt, after);
  EXPECT_EQ(summary.updates, 150);
  EXPECT_GT(after.last.best, before.last.best + 0.1);
  EXPECT_GT(after.last.mean, before.last.mean + 0.1);
}

TEST_F(TrainingTest, WindowsOfPlansMakeWeakWeightsBetterToo) {
  GFlowNetTrainerOptions options;
  options.start = WithWeakPrior();
  options.settings = Small();
  options.settings.updates = 60;
  options.settings.window_share = 1;
  options.settings.windows = 2;
  options.settings.most_window_ops = 120;
  options.settings.validate_every = 60;
  options.seed = 5;
  options.output = Path("windows.safetensors");
  LastValidation validation;
  TrainGFlowNet(options, std::nullopt, validation);
  const double trained = validation.last.mean;
  options.settings.updates = 0;
  options.output = Path("weak.safetensors");
  TrainGFlowNet(options, std::nullopt, validation);
  EXPECT_GT(trained, 1.02 * validation.last.mean);
}

TEST_F(TrainingTest, TheSpeedupRewardMakesWeakWeightsBetterAndIsNamedInThem) {
  GFlowNetTrainerOptions options;
  options.settings = Small();
  options.settings.reward = "speedup";
  options.settings.lowest_temperature = 0.002;
  options.settings.highest_temperature = 0.02;
  options.settings.validation_temperatures = {0.01};
  options.settings.validate_every = 1000;
  options.settings.updates = 0;
  options.start = WithWeakPrior();
  options.output = Path("speedup.safetensors");
  LastValidation before, after;
  TrainGFlowNet(options, std::nullopt, before);
  options.settings.updates = 60;
  TrainGFlowNet(options, std::nullopt, after);
  EXPECT_GT(after.last.mean, before.last.mean + 0.1);
  Weights trained = ReadWeights(options.output);
  EXPECT_EQ(trained.metadata.at("reward"), "speedup");

  const auto problem = MakeGridProblem({.ops = 10, .devices = 2, .ccr = 2}, 6);
  FinetuneSettings settings;
  settings.updates = 1;
  const auto silent = [](std::int64_t, double) {};
  EXPECT_NO_THROW(Finetune(problem->environment(), trained, settings, silent));
  trained.metadata["reward"] = "makespan";
  EXPECT_THROW(Finetune(problem->environment(), trained, settings, silent), InvalidInput);
}

TEST_F(TrainingTest, EveryObjectiveTrainsWithDemonstrationsToo) {
  for (const std::string& name : ObjectiveNames()) {
    GFlowNetTrainerOptions options;
    options.settings = Small();
    options.settings.objective = name;
    options.settings.updates = 4;
    options.settings.demonstration_weight = 0.2;
    options.settings.demonstration_problems = 2;
    options.settings.demonstration_visits = 1e5;
    if (name == "exact_flow") {  // every plan is worked out, every state read
      options.settings.encoder = "topoformer";
      options.settings.problems.fewest_ops = 3;
      options.settings.problems.most_ops = 6;
      options.settings.exact = {.fewest_plans = 20, .most_plans = 2000};
      options.settings.validation = "exactness";
    }
    options.output = Path(name + ".safetensors");
    LastValidation silent;
    EXPECT_EQ(TrainGFlowNet(options, std::nullopt, silent).updates, 4) << name;
    EXPECT_NO_THROW(MakeLearnedPolicy(ReadWeights(options.output))) << name;
  }
}

TEST_F(TrainingTest, TrainsATopoformerThatEncodesStatesAndLearnsItsBackwardPolicy) {
  GFlowNetTrainerOptions options;
  options.settings = Small();
  options.settings.encoder = "topoformer";
  options.settings.backward = "learned";
  options.settings.problems.fewest_ops = 3;
  options.settings.problems.most_ops = 6;
  options.settings.validation = "exactness";  // the grid's graphs are too large to read at every step
  options.settings.exact = {.fewest_plans = 20, .most_plans = 2000};
  options.settings.updates = 3;
  options.settings.demonstration_weight = 0.2;
  options.settings.demonstration_problems = 2;
  options.settings.demonstration_visits = 1e4;
  options.output = Path("topoformer.safetensors");
  LastValidation silent;
  EXPECT_EQ(TrainGFlowNet(options, std::nullopt, silent).updates, 3);
  const Weights trained = ReadWeights(options.output);
  EXPECT_EQ(BackwardOf(trained), Backward::kLearned);
  EXPECT_EQ(MakeLearnedPolicy(trained)->name(), "topoformer");
  options.settings.encoder = "mpnn";
  options.settings.backward = "uniform";
  options.start = trained;
  EXPECT_THROW(TrainGFlowNet(options, std::nullopt, silent), InvalidInput);
}

TEST_F(TrainingTest, KilledAndResumedItEndsInTheSameBytesAtAnyNumberOfThreads) {
  GFlowNetSettings settings = Small();
  settings.updates = 120;
  settings.validate_every = 60;
  settings.objective = "trajectory_balance";
  const std::string preset = Write("preset.json", SettingsJson(settings));
  ASSERT_EQ(Run({"gflownet", "--preset", preset, "--seed", "7", "-q", "-o", Path("whole.safetensors")}), 0);

  const std::string output = Path("resumed.safetensors");
  const std::string checkpoint = Path("resumed.checkpoint");
  const pid_t child = Start({"gflownet", "--preset", preset, "--seed", "7", "-q", "-o", output, "--checkpoint",
                             checkpoint, "--checkpoint-seconds", "0.02"},
                            Path("errors.txt"));
  while (!std::filesystem::exists(checkpoint)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ::kill(child, SIGKILL);
  const int status = Finish(child);
  ASSERT_TRUE(WIFSIGNALED(status)) << "it ended before it could be killed";
  const Checkpoint kept = ReadCheckpoint(checkpoint, kGFlowNetCheckpoint);
  EXPECT_GT(kept.update, 0);
  EXPECT_LT(kept.update, settings.updates);

  ASSERT_EQ(Run({"gflownet", "--resume", checkpoint, "-q", "-o", output, "--threads", "2"}), 0);
  EXPECT_EQ(ContentOf(output), ContentOf(Path("whole.safetensors")));
}

TEST_F(TrainingTest, BadInputIsOneLineAndExitCodeTwo) {
  GFlowNetTrainerOptions options;
  options.settings = Small();
  options.settings.updates = 1;
  options.output = Path("weights.safetensors");
  options.checkpoint = Path("checkpoint");
  LastValidation silent;
  TrainGFlowNet(options, std::nullopt, silent);
  const std::string checkpoint = ContentOf(options.checkpoint);
  const std::string truncated = Write("truncated", checkpoint.substr(0, checkpoint.size() / 2));
  Weights narrow = ReadWeights(options.output);
  narrow.tensors["input.weight"] = {.shape = {1, 1}, .values = {0}};
  WriteWeights(Path("narrow.safetensors"), narrow);
  const std::string preset = Write("preset.json", R"({"updates": 1, "lowest_temperature": 0})");
  const std::string good = Write("good.json", R"({"updates": 1})");

  const std::pair<std::vector<std::string>, const char*> wrong[] = {
      {{"gflownet", "--preset", preset}, "preset.json"},
      {{"gflownet", "--resume", truncated}, "truncated"},
      {{"gflownet", "--preset", good, "--start", Path("narrow.safetensors")}, "input.weight"},
      {{"finetune", "--graph", good, "--machine", "homogeneous:2", "--seconds", "1"}, "good.json"}};
  EXPECT_THROW(ReadCheckpoint(options.output, kGFlowNetCheckpoint), InvalidInput);
  for (const auto& [words, what] : wrong) {
    std::vector<std::string> all = words;
    all.insert(all.end(), {"-o", Path("out.safetensors")});
    std::string line;
    EXPECT_EQ(Run(all, &line), 2) << words[0] << " " << what;
    EXPECT_THAT(line, HasSubstr(what));
    EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1) << line;
    EXPECT_FALSE(std::filesystem::exists(Path("out.safetensors")));
  }
}

TEST_F(TrainingTest, EndsInTheSameWeightsOnAnyNumberOfRanksWhateverTheObjective) {
  for (const char* objective : {"log_partition_variance", "trajectory_balance", "ppo"}) {
    GFlowNetTrainerOptions options;
    options.settings = Small();
    options.settings.objective = objective;
    options.settings.graphs_per_update = 3;
    options.settings.demonstration_weight = 0.5;
    options.settings.demonstration_problems = 2;
    options.settings.window_share = std::string(objective) == "log_partition_variance" ? 0.5 : 0;
    options.settings.windows = 2;
    options.settings.updates = 4;
    options.settings.validate_every = 2;
    options.seed = 4;
    options.output = Path("alone.safetensors");
    LastValidation validation;
    TrainGFlowNet(options, std::nullopt, validation);
    for (const int size : {2, 5}) {
      options.output = Path("together.safetensors");
      const std::string fault = testing::OnRanks(size, [&](mpi::Ranks& ranks) {
        GFlowNetTrainerOptions own = options;
        own.ranks = &ranks;
        if (ranks.rank() != 0) own.output = Path("of a follower");
        LastValidation unused;
        TrainGFlowNet(own, std::nullopt, unused);
      });
      EXPECT_EQ(fault, "");
      EXPECT_EQ(ReadWeights(Path("alone.safetensors")), ReadWeights(options.output)) << objective << ", " << size;
      EXPECT_FALSE(std::filesystem::exists(Path("of a follower")));
    }
  }
}

// By the program, over MPI: the same bytes, and one complaint about what is wrong everywhere.
TEST_F(TrainingTest, RanksOfMpirunTrainAsOneProcessDoes) {
#ifndef MILLRACE_MPI_BUILT
  GTEST_SKIP() << "built without MPI";
#endif
  if (std::system("command -v mpirun >/dev/null 2>&1") != 0) GTEST_SKIP() << "there is no mpirun here";
  GFlowNetSettings settings = Small();
  settings.updates = 4;
  settings.validate_every = 4;
  const std::string preset = Write("preset.json", SettingsJson(settings));
  ASSERT_EQ(Run({"gflownet", "--preset", preset, "-q", "-o", Path("alone.safetensors")}), 0);
  const auto on_ranks = [&](const std::string& words) {
    const std::string line =
        "mpirun -q --allow-run-as-root --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 "
        "--mca rtc_hwloc_vmhole none -n 3 '" MILLRACE_TRAIN_PROGRAM "' " +
        words + " >'" + Path("errors.txt") + "' 2>&1 </dev/null";
    return std::system(line.c_str());
  };
  const std::string together = Path("together.safetensors");
  EXPECT_EQ(on_ranks("gflownet --preset '" + preset + "' -o '" + together + "' --log '" + Path("log") + "'"), 0)
      << ContentOf(Path("errors.txt"));
  EXPECT_EQ(ContentOf(Path("alone.safetensors")), ContentOf(together));
  // One line for the validation, on the terminal and in the log.
  EXPECT_THAT(ContentOf(Path("errors.txt")), MatchesRegex("update 4, [^\n]*\n"));
  EXPECT_THAT(ContentOf(Path("log")), MatchesRegex("\\{[^\n]*\n(\\{[^\n]*\n)*"));

  const int status = on_ranks("gflownet --preset missing -o x");
  EXPECT_EQ(WEXITSTATUS(status), 2);
  const std::string complaint = ContentOf(Path("errors.txt"));
  EXPECT_THAT(complaint, HasSubstr("there is no 'missing'"));
  EXPECT_EQ(complaint.find("there is no"), complaint.rfind("there is no")) << complaint;
  EXPECT_EQ(WEXITSTATUS(on_ranks("hdp --graph g --machine m -o x")), 2);
  EXPECT_THAT(ContentOf(Path("errors.txt")), HasSubstr("one process"));
}

TEST_F(TrainingTest, AGradientThatIsNotFiniteChangesNoWeight) {
  Random random(1);
  const Weights start = InitialMessagePassingWeights(random);
  GFlowNetLearner learner(start, {});
  const ProblemSource source(Small().problems);
  const auto problem = source.Draw(random);
  const GraphFeatures graph = MakeGraphFeatures(problem->environment());
  StepBatch steps;
  SamplerOptions all;
  all.recorded_share = 1;
  SampleTrajectories(problem->environment(), *MakeMessagePassingPolicy(start)->Prepare(problem->environment(), 0.1), 2,
                     all, random, &steps);
  learner.Predict({{.graph = &graph, .temperature = 0.1, .steps = &steps}});
  Derivative derivative;
  derivative.groups.assign(steps.groups.steps(), std::numeric_limits<float>::quiet_NaN());
  derivative.devices.assign(steps.devices.steps(), 0);
  learner.Follow({derivative});
  EXPECT_THROW(learner.Descend(1, 1e-3), WorkFailed);
  EXPECT_EQ(learner.weights(), start);
}

TEST_F(TrainingTest, FinetuningMakesWeakWeightsBetterOnItsGraphAndRepeats) {
  const auto problem = MakeGridProblem({.ops = 30, .devices = 4, .ccr = 2}, 5);
  FinetuneSettings settings;
  settings.updates = 40;
  settings.learning_rate = 3e-3;
  std::int64_t told = 0;
  const auto observe = [&](std::int64_t updates, double) { told = updates; };
  const Finetuned tuned = Finetune(problem->environment(), WithWeakPrior(), settings, observe);
  EXPECT_EQ(told, 40);
  EXPECT_LT(tuned.after.best, tuned.before.best);
  EXPECT_LT(tuned.after.mean, 0.95 * tuned.before.mean);
  EXPECT_LE(tuned.plans.front().makespan, tuned.after.best);
  settings.threads = 2;
  EXPECT_EQ(Finetune(problem->environment(), WithWeakPrior(), settings, observe).weights, tuned.weights);
}

TEST_F(TrainingTest, FinetuningLearnsFromPlansItIsGiven) {
  const auto problem = MakeGridProblem({.ops = 30, .devices = 4, .ccr = 2}, 5);
  FinetuneSettings settings;
  settings.updates = 15;
  settings.learning_rate = 3e-3;
  settings.replay_weight = 1;
  const auto silent = [](std::int64_t, double) {};
  const Finetuned alone = Finetune(problem->environment(), WithWeakPrior(), settings, silent);
  const CostedGraph& costed = problem->environment().costed();
  settings.demonstrations = {ScheduleHeft(costed, PartialSchedule::Gaps::kFill).assignment};
  const Finetuned shown = Finetune(problem->environment(), WithWeakPrior(), settings, silent);
  EXPECT_LE(shown.plans.front().makespan, Simulator(costed).Makespan(settings.demonstrations.front()));
  EXPECT_NE(shown.weights, alone.weights);
}

TEST_F(TrainingTest, FinetuningNeverReturnsWorseWeights) {
  const auto problem = MakeGridProblem({.ops = 20, .devices = 3, .ccr = 2}, 6);
  FinetuneSettings settings;
  settings.updates = 5;
  settings.learning_rate = 1;  // ruins them
  const Weights start = WithWeakPrior();
  const Finetuned tuned = Finetune(problem->environment(), start, settings, [](std::int64_t, double) {});
  EXPECT_LE(tuned.after.typical_best, tuned.before.typical_best);
}

TEST_F(TrainingTest, FinetuningWithoutALimitIsRefused) {
  const auto problem = MakeGridProblem({.ops = 10, .devices = 2, .ccr = 2}, 6);
  EXPECT_THROW(Finetune(problem->environment(), WithWeakPrior(), {}, [](std::int64_t, double) {}), InvalidInput);
}

}  // namespace
}  // namespace millrace
