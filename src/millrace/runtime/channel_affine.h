// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "millrace/runtime/kernel.h"

// Nodes that scale and shift a tensor by constants of its channels: inference BatchNormalization, and Add, Sub, Mul,
// Div with a constant operand.
namespace millrace {

struct ChannelAffine {
  std::vector<float> scale, shift;  // by channel: result = scale * input + shift
};

// What the node does to `value`, one of its inputs, in this way; nothing where it does something else.
std::optional<ChannelAffine> ChannelAffineOf(const Model& model, int node, int value, std::size_t channel_axis);

}  // namespace millrace
