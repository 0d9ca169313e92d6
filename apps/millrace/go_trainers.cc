// SPDX-License-Identifier: Apache-2.0
#include "millrace/go_trainers.h"

#include <fmt/core.h>

#include <array>
#include <filesystem>
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

// What a training may take beyond its own limit: starting libtorch, and an update that has begun.
constexpr double kSpareSeconds = 300;

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

// One training of one row, in a folder of its own.
class Run {
 public:
  Run(const GoTraining& training, const std::string& name, const GoRow& row, std::uint64_t seed)
      : seconds_(training.seconds), folder_(training.folder) {
    const std::string title = fmt::format("{}-{}-{}", name, row.workload.name, seed);
    folder_ /= title;
    words_ = WriteProblem(folder_.string(), row.graph, row.machine);
    words_.insert(words_.end(), {"--seed", fmt::format("{}", seed), "--time-limit", fmt::format("{}", seconds_)});
    if (!training.log.empty()) words_.insert(words_.end(), {"--log", fmt::format("{}/{}.jsonl", training.log, title)});
  }

  std::string plan() const { return (folder_ / "plan.json").string(); }
  std::string weights() const { return (folder_ / "weights.safetensors").string(); }

  // False where the trainer found no plan that fits in memory.
  bool Train(const std::string& kind, const std::vector<std::string>& more) const {
    std::vector<std::string> words = words_;
    words.insert(words.begin(), kind);
    words.insert(words.end(), more.begin(), more.end());
    const ChildResult child = RunTrainer(std::move(words), seconds_ + kSpareSeconds);
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

}  // namespace

GoMethod TrainedHdp(const GoTraining& training) {
  GoMethod method;
  method.name = "hdp";
  method.seeded = true;
  method.plan = [training](const GoRow& row, std::uint64_t seed) -> std::optional<GoPlan> {
    const Run run(training, "hdp", row, seed);
    if (!run.Train("hdp", {"-o", run.plan()})) return std::nullopt;
    return ReadPlan(run.plan(), row);
  };
  return method;
}

GoMethod FinetunedGo(const GoTraining& training, const GoTasks& tasks) {
  GoMethod method;
  method.name = "go-finetuned";
  method.seeded = true;
  method.plan = [training, tasks](const GoRow& row, std::uint64_t seed) -> std::optional<GoPlan> {
    const Run run(training, "go", row, seed);
    if (!run.Train("go", {"--start", training.weights, "--tasks", TaskWords(tasks), "-o", run.weights(), "--plan",
                          run.plan()})) {
      return std::nullopt;
    }
    return ReadPlan(run.plan(), row);
  };
  return method;
}

GoPolicyFor FinetunedGoPolicies(const GoTraining& training) {
  return [training](const GoRow& row, const GoTasks& tasks, std::uint64_t seed) {
    std::string name = TaskWords(tasks);
    for (char& letter : name) letter = letter == ',' ? '+' : letter;
    const Run run(training, name, row, seed);
    if (!run.Train("go", {"--start", training.weights, "--tasks", TaskWords(tasks), "-o", run.weights()})) {
      return std::make_shared<const OneShotPolicy>(ReadOneShotPolicy(training.weights));
    }
    return std::make_shared<const OneShotPolicy>(ReadOneShotPolicy(run.weights()));
  };
}

}  // namespace millrace::cli
