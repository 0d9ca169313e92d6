// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/runtime/kernel_registry.h"

// Einsum: of two float32 tensors that are multiplied and summed as matrices are (attention, mostly) by oneDNN's matrix
// product, with operands and result put into its order where they are not in it; anything else in plain loops.
namespace millrace {

std::vector<KernelEntry> EinsumKernels();

}  // namespace millrace
