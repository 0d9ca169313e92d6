// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "millrace/runtime/kernel.h"

// The kernel of a group of elementwise nodes. All their outputs have one shape, so the group runs block by block: what
// lies between two nodes never leaves the cache. Works on blocked tensors where all full-shaped inputs are at hand in
// blocks, and per-channel constants are then laid out to match.
namespace millrace {

// Null where a node is not elementwise, or shapes differ. Throws InvalidInput as MakeKernel does.
std::unique_ptr<Kernel> MakeElementwiseKernel(const KernelRequest& request);

// The nodes from the first on, one after another, that one such kernel can take together.
std::vector<int> ElementwiseChain(const Model& model, std::span<const int> nodes);

// Why this node has no elementwise step; empty if it has.
std::string ElementwiseUnsupported(const Model& model, int node);

}  // namespace millrace
