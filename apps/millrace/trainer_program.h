// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "millrace/graph/computation_graph.h"
#include "millrace/machine/machine.h"

// The program millrace-train, which lies beside this one and alone is linked with libtorch.
namespace millrace::cli {

// Its path. Throws WorkFailed, saying how to build it, where it is not there.
std::string TrainerProgram();

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
