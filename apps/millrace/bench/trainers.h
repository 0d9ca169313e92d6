// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "millrace/experiments/go/go_tasks.h"

// Methods of the go-... experiments that learn, each row anew, by the program millrace-train.
namespace millrace::cli {

struct GoTraining {
  std::string folder;   // for graphs, machines, weights and plans; made where it is not there
  double seconds = 60;  // of training, for each row and seed
  std::string log;      // empty: none; else "NAME-ROW-SEED.jsonl" is written to this folder
};

// The file of weights to start from; an empty path: from none.
using GoStart = std::function<std::string(const GoRow&, std::uint64_t seed)>;

// The same file for all.
GoStart FromWeights(std::string file);

// From no training.
std::string FromNoTraining(const GoRow& row, std::uint64_t seed);

// A file of the folder.
std::string TrainingLogOf(const GoTraining& training, const std::string& name, const GoRow& row, std::uint64_t seed);

// HDP's best plan, and that of the one-shot policy fine-tuned on these tasks, each the best it measured on the way.
// Planners throw WorkFailed with the trainer's own words where that fails for another reason than memory.
GoMethod TrainedHdp(const GoTraining& training);
GoMethod FinetunedGo(std::string name, const GoTraining& training, GoStart start, const GoTasks& tasks);

// Weights of the one-shot policy fine-tuned on each workload, made when they are first asked for and kept; those to
// start from where no plan it tried fits in memory.
GoStart FinetunedTo(const GoTraining& training, GoStart start, const GoTasks& tasks);

// The policies themselves.
GoPolicyFor FinetunedGoPolicies(const GoTraining& training, GoStart start);

// For each row and seed weights that were trained on all families but the row's own, for training.seconds; a family's
// are made when they are first asked for. Weights of the one-shot policy ("go") and of moves ("moves") learn from the
// graphs of workloads/go_corpus.h.
GoStart PretrainedOnOthers(const std::string& kind, const GoTraining& training);

}  // namespace millrace::cli
