// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/runtime/kernel_registry.h"

// Concat along any axis of tensors of any one type but strings. Blocked tensors stay blocked where whole blocks can be
// copied. Inputs that are one piece of the result may be made there (Kernel::placed_inputs), and are not copied then.
namespace millrace {

std::vector<KernelEntry> ConcatenationKernels();

}  // namespace millrace
