// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "millrace/runtime/activation.h"

// What may follow a convolution or matrix product inside one primitive, in this order: a scale and a shift per output
// channel (folded into weights and bias), a tensor added, an activation.
namespace millrace {

struct Epilogue {
  std::vector<int> nodes;    // the anchor and the nodes that follow it here, in execution order
  std::vector<float> scale;  // by channel; empty: ones
  std::vector<float> shift;  // by channel; empty: zeros
  int residual = -1;         // value added to the scaled and shifted result; same shape
  Activation activation;     // empty: none
  int output = -1;           // value the last of the nodes makes
};

// The longest chain from `anchor` inside `nodes` that fits: every value but the last is read by the next node only.
// Just the anchor where its weights are computed by the model. Channels lie along `channel_axis` of its output.
Epilogue EpilogueOf(const Model& model, std::span<const int> nodes, int anchor, std::size_t channel_axis);

}  // namespace millrace
