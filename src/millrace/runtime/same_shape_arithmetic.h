// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/runtime/kernel_registry.h"

// Sum, Add, Sub, Mul, Div, Max, Min of float32 tensors of one shape, none of them constant, in whichever layout most
// of them are at hand.
namespace millrace {

std::vector<KernelEntry> SameShapeArithmeticKernels();

}  // namespace millrace
