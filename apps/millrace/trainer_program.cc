// SPDX-License-Identifier: Apache-2.0
#include "millrace/trainer_program.h"

#include <fmt/core.h>

#include <filesystem>

#include "millrace/errors/errors.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/graph_json.h"
#include "millrace/formats/machine_json.h"
#include "millrace/target/child_process.h"

namespace millrace::cli {
namespace {

// What it may take beyond its own limit: starting libtorch, and judging the weights before and after.
constexpr double kSpareSeconds = 120;

}  // namespace

std::string TrainerProgram() {
  std::error_code failed;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failed);
  const std::string program = (self.parent_path() / "millrace-train").string();
  if (failed || !std::filesystem::exists(program, failed)) {
    throw WorkFailed(program +
                     " is not built: configure with libtorch (Debian: libtorch-dev) and build millrace-train");
  }
  return program;
}

std::string Finetune(const ComputationGraph& graph, const Machine& machine, const FinetuneRequest& request) {
  const std::string program = TrainerProgram();
  const std::filesystem::path folder = request.folder;
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw WorkFailed("cannot make folder '" + request.folder + "': " + failed.message());
  const std::string graph_file = (folder / "graph.json").string();
  const std::string machine_file = (folder / "machine.json").string();
  const std::string weights = (folder / "finetuned.safetensors").string();
  WriteFileAtomically(graph_file, GraphJson(graph));
  WriteFileAtomically(machine_file, MachineJson(machine));
  const ChildResult child = RunChild(
      {program, "finetune", "--graph", graph_file, "--machine", machine_file, "--start", request.weights, "--seconds",
       fmt::format("{}", request.seconds), "--seed", fmt::format("{}", request.seed), "-o", weights},
      {.seconds = request.seconds + kSpareSeconds});
  if (child.ending != ChildEnding::kExited || child.code != 0) {
    throw WorkFailed("fine-tuning failed: " +
                     (child.errors.empty() ? program + " could not be run to its end" : child.errors));
  }
  return weights;
}

}  // namespace millrace::cli
