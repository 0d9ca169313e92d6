// SPDX-License-Identifier: Apache-2.0
#include "millrace/trainer_program.h"

#include <fmt/core.h>

#include <filesystem>
#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/graph_json.h"
#include "millrace/formats/machine_json.h"

namespace millrace::cli {
namespace {

// What it may take beyond its own limit: starting libtorch, and judging the weights before and after.
constexpr double kSpareSeconds = 120;

}  // namespace

std::string TrainerProgram() {
  std::error_code failed;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failed);
  std::string program = (self.parent_path() / "millrace-train").string();
  if (failed || !std::filesystem::exists(program, failed)) {
    throw WorkFailed(program +
                     " is not built: configure with libtorch (Debian: libtorch-dev) and build millrace-train");
  }
  return program;
}

std::vector<std::string> WriteProblem(const std::string& folder, const ComputationGraph& graph,
                                      const Machine& machine) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw WorkFailed("cannot make folder '" + folder + "': " + failed.message());
  const std::string graph_file = (std::filesystem::path(folder) / "graph.json").string();
  const std::string machine_file = (std::filesystem::path(folder) / "machine.json").string();
  WriteFileAtomically(graph_file, GraphJson(graph));
  WriteFileAtomically(machine_file, MachineJson(machine));
  return {"--graph", graph_file, "--machine", machine_file};
}

ChildResult RunTrainer(std::vector<std::string> words, double most_seconds) {
  words.insert(words.begin(), TrainerProgram());
  return RunChild(words, {.seconds = most_seconds});
}

bool Succeeded(const ChildResult& child) { return child.ending == ChildEnding::kExited && child.code == 0; }

std::string WhyTrainerFailed(const ChildResult& child) {
  return child.errors.empty() ? TrainerProgram() + " could not be run to its end" : child.errors;
}

std::string Finetune(const ComputationGraph& graph, const Machine& machine, const FinetuneRequest& request) {
  std::vector<std::string> words = WriteProblem(request.folder, graph, machine);
  std::string weights = (std::filesystem::path(request.folder) / "finetuned.safetensors").string();
  words.insert(words.begin(), "finetune");
  words.insert(words.end(), {"--start", request.weights, "--seconds", fmt::format("{}", request.seconds), "--seed",
                             fmt::format("{}", request.seed), "-o", weights});
  const ChildResult child = RunTrainer(words, request.seconds + kSpareSeconds);
  if (!Succeeded(child)) throw WorkFailed("fine-tuning failed: " + WhyTrainerFailed(child));
  return weights;
}

}  // namespace millrace::cli
