// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "millrace/graph/computation_graph.h"
#include "millrace/machine/machine.h"
#include "millrace/target/child_process.h"

// The program millrace-train, which lies beside this one and alone is linked with libtorch.
namespace millrace::cli {

// Its path. Throws WorkFailed, saying how to build it, where it is not there.
std::string TrainerProgram();

// Writes graph.json and machine.json to the folder, which is made where it is not there, and returns the words that
// name them to the trainer. Throws WorkFailed.
std::vector<std::string> WriteProblem(const std::string& folder, const ComputationGraph& graph, const Machine& machine);

// Runs it with these words after its name, for at most so many seconds. Throws Interrupted.
ChildResult RunTrainer(std::vector<std::string> words, double most_seconds);

bool Succeeded(const ChildResult& child);

// What to say of a run that did not.
std::string WhyTrainerFailed(const ChildResult& child);

struct FinetuneRequest {
  double seconds = 20;
  std::string weights;  // to start from
  std::string folder;   // where graph.json, machine.json and finetuned.safetensors are written
  std::uint64_t seed = 0;
};

// Has the weights adapted to the graph on the machine. Returns the path of the new ones. Throws WorkFailed with the
// trainer's own words where that fails, Interrupted.
std::string Finetune(const ComputationGraph& graph, const Machine& machine, const FinetuneRequest& request);

}  // namespace millrace::cli
