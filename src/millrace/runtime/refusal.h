// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "millrace/runtime/kernel.h"

// Why a heavy kernel cannot execute a node.
namespace millrace {

// "Conv on float16" where an input or output of the node is not float32; empty otherwise. Empty tensors are refused
// too: there is nothing to compute, and the library underneath does not take them.
std::string RefuseTypes(const Model& model, int node);

// "Relu of a constant" where the node's first input is one: nothing is left to do while the model runs.
std::string RefuseConstant(const Model& model, int node);

// "MaxPool with the output Indices" where the node has an output of this number.
std::string RefuseOutput(const Model& model, int node, std::size_t output, const std::string& name);

}  // namespace millrace
