// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/runtime/kernel_registry.h"

// The operators executed by our own loops: elementwise with broadcasting, reductions, data movement, casts, recurrence.
namespace millrace {

std::vector<KernelEntry> LightKernels();

}  // namespace millrace
