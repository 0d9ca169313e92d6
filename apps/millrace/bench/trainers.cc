// SPDX-License-Identifier: Apache-2.0
#include "millrace/bench/trainers.h"

#include <fmt/core.h>

#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/errors/errors.h"
#include "millrace/formats/plan_json.h"
#include "millrace/trainer_program.h"

namespace millrace::cli {
namespace {

// How long a training may take: beyond its own limit it starts libtorch, makes its problems, ends an update that has
// begun and validates its weights, which on a busy machine takes longer than the training.
double MostSeconds(double of_training) { return 600 + 3 * of_training; }

constexpr int kNoPlan = 1;  // the trainer's exit code where its work failed

std::string TaskWords(const GoTasks& tasks) {
  constexpr std::array<std::string_view, kTasks.size()> kWords = {"placement", "priority", "fusion"};
  std::string joined;
  for (std::size_t task = 0; task < kWords.size(); ++task) {
    if (!tasks[task]) continue;
    if (!joined.empty()) joined += ',';
    joined += kWords[task];
  }
  return joined;
}

std::string TitleOf(const std::string& name, const GoRow& row, std::uint64_t seed) {
  return fmt::format("{}-{}-{}", name, row.workload.name, seed);
}

std::string TrainingWords(const GoTraining& training) { return fmt::format("{} s of training", training.seconds); }

std::vector<std::string> StartWords(const std::string& weights) {
  if (weights.empty()) return {};
  return {"--start", weights};
}

void MakeFolder(const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw WorkFailed("cannot make folder '" + folder + "': " + failed.message());
}

std::string LogOf(const GoTraining& training, const std::string& title) {
  return fmt::format("{}/{}.jsonl", training.log, title);
}

// Where logs are wanted.
void AddLog(const GoTraining& training, const std::string& title, std::vector<std::string>& words) {
  if (training.log.empty()) return;
  MakeFolder(training.log);
  words.insert(words.end(), {"--log", LogOf(training, title)});
}

// One training of one row, in a folder of its own.
class Run {
 public:
  Run(const GoTraining& training, const std::string& name, const GoRow& row, std::uint64_t seed)
      : seconds_(training.seconds), folder_(training.folder) {
    folder_ /= TitleOf(name, row, seed);
    words_ = WriteProblem(folder_.string(), row.graph, row.machine);
    words_.insert(words_.end(), {"--seed", fmt::format("{}", seed), "--time-limit", fmt::format("{}", seconds_)});
    AddLog(training, TitleOf(name, row, seed), words_);
  }

  std::string plan() const { return (folder_ / "plan.json").string(); }
  std::string weights() const { return (folder_ / "weights.safetensors").string(); }

  // False where the trainer found no plan that fits in memory.
  bool Train(const std::string& kind, const std::vector<std::string>& more) const {
    std::vector<std::string> words = words_;
    words.insert(words.begin(), kind);
    words.insert(words.end(), more.begin(), more.end());
    const ChildResult child = RunTrainer(std::move(words), MostSeconds(seconds_));
    if (Succeeded(child)) return true;
    if (child.ending == ChildEnding::kExited && child.code == kNoPlan &&
        child.errors.find("memory") != std::string::npos) {
      return false;
    }
    throw WorkFailed(fmt::format("training {} failed: {}", kind, WhyTrainerFailed(child)));
  }

 private:
  double seconds_;
  std::filesystem::path folder_;
  std::vector<std::string> words_;
};

GoPlan ReadPlan(const std::string& file, const GoRow& row) {
  PlanReading reading;
  reading.machine = row.machine;
  Plan plan = LoadPlan(file, row.graph, reading).plan;
  GoPlan made;
  made.costed = std::make_shared<CostedGraph>(MakeCostedGraph(*row.model, std::move(plan.groups)));
  made.assignment = {std::move(plan.placement), std::move(plan.sequence)};
  return made;
}

// The file of the one-shot policy fine-tuned to the row; `start` where no plan it tried fits in memory.
std::string FinetunedWeights(const GoTraining& training, const std::string& name, const std::string& start,
                             const GoTasks& tasks, const GoRow& row, std::uint64_t seed) {
  const Run run(training, name, row, seed);
  std::vector<std::string> words = StartWords(start);
  words.insert(words.end(), {"--tasks", TaskWords(tasks), "-o", run.weights()});
  return run.Train("go", words) ? run.weights() : start;
}

}  // namespace

GoStart FromWeights(std::string file) {
  return [file = std::move(file)](const GoRow&, std::uint64_t) { return file; };
}

std::string FromNoTraining(const GoRow& /*row*/, std::uint64_t /*seed*/) { return {}; }

std::string TrainingLogOf(const GoTraining& training, const std::string& name, const GoRow& row, std::uint64_t seed) {
  return LogOf(training, TitleOf(name, row, seed));
}

GoMethod TrainedHdp(const GoTraining& training) {
  GoMethod method;
  method.name = "hdp";
  method.budget = TrainingWords(training);
  method.seeded = true;
  method.plan = [training](const GoRow& row, std::uint64_t seed, std::optional<double>) -> std::optional<GoPlan> {
    const Run run(training, "hdp", row, seed);
    if (!run.Train("hdp", {"-o", run.plan()})) return std::nullopt;
    return ReadPlan(run.plan(), row);
  };
  return method;
}

GoMethod FinetunedGo(std::string name, const GoTraining& training, GoStart start, const GoTasks& tasks) {
  GoMethod method;
  method.name = std::move(name);
  method.budget = TrainingWords(training);
  method.seeded = true;
  method.plan = [name = method.name, training, start = std::move(start), tasks](
                    const GoRow& row, std::uint64_t seed, std::optional<double>) -> std::optional<GoPlan> {
    const Run run(training, name, row, seed);
    std::vector<std::string> words = StartWords(start(row, seed));
    words.insert(words.end(), {"--tasks", TaskWords(tasks), "-o", run.weights(), "--plan", run.plan()});
    if (!run.Train("go", words)) return std::nullopt;
    return ReadPlan(run.plan(), row);
  };
  return method;
}

GoStart FinetunedTo(const GoTraining& training, GoStart start, const GoTasks& tasks) {
  auto made = std::make_shared<std::map<std::string, std::string>>();  // by title: path
  return [training, start = std::move(start), tasks, made](const GoRow& row, std::uint64_t seed) {
    constexpr char kName[] = "go-finetuned";
    std::string& weights = (*made)[TitleOf(kName, row, seed)];
    if (weights.empty()) weights = FinetunedWeights(training, kName, start(row, seed), tasks, row, seed);
    return weights;
  };
}

GoPolicyFor FinetunedGoPolicies(const GoTraining& training, GoStart start) {
  return [training, start = std::move(start)](const GoRow& row, const GoTasks& tasks, std::uint64_t seed) {
    std::string name = TaskWords(tasks);
    for (char& letter : name) letter = letter == ',' ? '+' : letter;
    return std::make_shared<const GoPolicy>(
        ReadGoPolicy(FinetunedWeights(training, name, start(row, seed), tasks, row, seed)));
  };
}

GoStart PretrainedOnOthers(const std::string& kind, const GoTraining& training) {
  auto made = std::make_shared<std::map<std::string, std::string>>();  // by title: path
  return [kind, training, made](const GoRow& row, std::uint64_t seed) {
    const std::string& family = row.workload.family;
    const std::string title = fmt::format("{}-without-{}-{}", kind, family, seed);
    std::string& weights = (*made)[title];
    if (!weights.empty()) return weights;
    MakeFolder(training.folder);
    const std::string file = training.folder + "/" + title + ".safetensors";
    std::vector<std::string> words = {kind, "--without", family, "-o", file, "--seed", fmt::format("{}", seed)};
    words.insert(words.end(), {"--time-limit", fmt::format("{}", training.seconds)});
    AddLog(training, title, words);
    const ChildResult child = RunTrainer(std::move(words), MostSeconds(training.seconds));
    if (!Succeeded(child)) throw WorkFailed(fmt::format("training {} failed: {}", kind, WhyTrainerFailed(child)));
    weights = file;
    return weights;
  };
}

}  // namespace millrace::cli
