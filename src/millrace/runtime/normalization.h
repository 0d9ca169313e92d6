// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/runtime/kernel_registry.h"

// LayerNormalization, InstanceNormalization and LRN.
namespace millrace {

std::vector<KernelEntry> NormalizationKernels();

}  // namespace millrace
