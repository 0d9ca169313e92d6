// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "millrace/runtime/gelu_pattern.h"
#include "millrace/runtime/kernel.h"

// How a fusion group falls into kernels: nodes that one kernel takes together (a convolution or matrix product with its
// epilogue, a chain of operations by channel), every other node by itself.
namespace millrace {

// Each unit's nodes in execution order, the units in an order that respects what they read from each other.
std::vector<std::vector<int>> FusedUnitsOf(const Model& model, std::span<const int> nodes);

// The channel axis of the node's output if it takes an epilogue there, -1 if it takes none.
int EpilogueAxisOf(const Model& model, int node);

// The pattern whose first node this is, if the nodes hold one.
std::optional<GeluPattern> PatternStartingWith(const Model& model, std::span<const int> nodes, int node);

// The kernel of a request whose nodes are one unit. Throws InvalidInput where the runtime cannot execute it.
std::unique_ptr<Kernel> MakeUnitKernel(const KernelRequest& request);

}  // namespace millrace
