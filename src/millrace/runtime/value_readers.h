// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/runtime/kernel.h"

// Who reads a value, and what constant operands mean.
namespace millrace {

// Nodes that read the value, ascending; -1 at the end where it is an output of the model or a control-flow body's.
std::vector<int> ReadersOf(const Model& model, int value);

const ConstantData* ConstantOf(const Model& model, int value);  // null where it is none, or left out

// The value of each of `channels` channels along `axis` of a tensor of `shape` that broadcasting this float32 constant
// gives; empty where it differs inside a channel.
std::vector<float> PerChannel(const ConstantData& constant, const Shape& shape, std::size_t axis);

}  // namespace millrace
