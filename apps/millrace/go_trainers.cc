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
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/graph_json.h"
#include "millrace/formats/machine_json.h"
#include "millrace/formats/plan_json.h"
#include "millrace/target/child_process.h"
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

// One training of one row: the files it reads and writes.
class Run {
 public:
  Run(const GoTraining& training, const std::string& name, const GoRow& row, std::uint64_t seed)
      : training_(training), stem_(fmt::format("{}/{}-{}-{}", training.folder, name, row.workload.name, seed)) {
    std::error_code failed;
    std::filesystem::create_directories(training.folder, failed);
    if (failed) throw WorkFailed("cannot make folder '" + training.folder + "': " + failed.message());
    WriteFileAtomically(graph(), GraphJson(row.graph));
    WriteFileAtomically(machine(), MachineJson(row.machine));
    words_ = {"--graph",      graph(),
              "--machine",    machine(),
              "--seed",       fmt::format("{}", seed),
              "--time-limit", fmt::format("{}", training.seconds)};
    if (!training.log.empty()) {
      words_.insert(words_.end(),
                    {"--log", fmt::format("{}/{}-{}-{}.jsonl", training.log, name, row.workload.name, seed)});
    }
  }

  std::string graph() const { return stem_ + ".graph.json"; }
  std::string machine() const { return stem_ + ".machine.json"; }
  std::string plan() const { return stem_ + ".plan.json"; }
  std::string weights() const { return stem_ + ".safetensors"; }

  // False where the trainer found no plan that fits in memory.
  bool Train(const std::string& kind, const std::vector<std::string>& more) const {
    std::vector<std::string> words = {TrainerProgram(), kind};
    words.insert(words.end(), words_.begin(), words_.end());
    words.insert(words.end(), more.begin(), more.end());
    const ChildResult child = RunChild(words, {.seconds = training_.seconds + kSpareSeconds});
    if (child.ending == ChildEnding::kExited && child.code == 0) return true;
    if (child.ending == ChildEnding::kExited && child.code == kNoPlan &&
        child.errors.find("memory") != std::string::npos) {
      return false;
    }
    throw WorkFailed(fmt::format("training {} failed: {}", kind, child.errors.empty() ? words[0] : child.errors));
  }

 private:
  const GoTraining& training_;
  std::string stem_;
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
