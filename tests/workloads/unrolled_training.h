// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/workloads/models.h"
#include "millrace/workloads/training_graph.h"

namespace millrace::testing {

// A training step of RNNLM over six time steps: several hundred ops, many of which can be fused.
inline ComputationGraph UnrolledTraining() {
  ModelOptions options;
  options.draw_weights = false;
  options.sequence = 6;
  return TrainingGraphOf(MakeModel("rnnlm", options));
}

// One of a translation model of four layers over so many time steps that its groups are searched by clusters
// (kMostGroupsSearched).
inline ComputationGraph LargeTraining() {
  ModelOptions options;
  options.draw_weights = false;
  options.layers = 4;
  options.sequence = 20;
  return TrainingGraphOf(MakeModel("gnmt", options));
}

}  // namespace millrace::testing
