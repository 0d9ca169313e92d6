// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "millrace/experiments/go_methods.h"

// Methods of the go-... experiments that learn, each row anew, by the program millrace-train.
namespace millrace::cli {

struct GoTraining {
  std::string folder;   // for graphs, machines, weights and plans; made where it is not there
  double seconds = 60;  // of training, for each row and seed
  std::string weights;  // of the one-shot policy, to start from
  std::string log;      // empty: none; else "NAME-ROW-SEED.jsonl" is written to this folder
};

// HDP's best plan, and that of the one-shot policy fine-tuned on these tasks, each the best it measured on the way.
// Planners throw WorkFailed with the trainer's own words where that fails for another reason than memory.
GoMethod TrainedHdp(const GoTraining& training);
GoMethod FinetunedGo(const GoTraining& training, const GoTasks& tasks);

// The policies themselves.
GoPolicyFor FinetunedGoPolicies(const GoTraining& training);

}  // namespace millrace::cli
