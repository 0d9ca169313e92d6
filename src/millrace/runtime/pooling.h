// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/runtime/kernel_registry.h"

// MaxPool, AveragePool, GlobalMaxPool and GlobalAveragePool, in whichever layout their input is at hand. A gang shares
// them out by images or channels.
namespace millrace {

std::vector<KernelEntry> PoolingKernels();

}  // namespace millrace
