// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "millrace/runtime/kernel_registry.h"

// Inference BatchNormalization, and Add, Sub, Mul, Div of a 4-D tensor with constants of its channels: result = scale *
// input + shift by channel, in whichever layout the input is at hand. A chain of them ending in an activation is one.
namespace millrace {

// The longest chain of such nodes inside `nodes` that starts with `first`; empty where that is none.
std::vector<int> ChannelAffineChain(const Model& model, std::span<const int> nodes, int first);

std::vector<KernelEntry> ChannelAffineKernels();

}  // namespace millrace
