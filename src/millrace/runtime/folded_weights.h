// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/runtime/epilogue.h"

// The weights of a Conv as its kernel needs them: what its epilogue scales and shifts is done to weights and bias once,
// before any run.
namespace millrace {

struct FoldedWeights {
  std::vector<float> weights;  // as the node has them, row-major; empty where the model computes them
  std::vector<float> bias;     // by output channel, zeros where there is none; empty where the model computes it
};

FoldedWeights FoldedWeightsOf(const Model& model, const Node& node, const Epilogue& epilogue);

}  // namespace millrace
