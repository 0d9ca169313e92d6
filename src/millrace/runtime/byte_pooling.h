// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/runtime/kernel_registry.h"

// MaxPool of 8-bit integers, with the channels innermost. A gang shares out the rows of the result.
namespace millrace {

std::vector<KernelEntry> BytePoolingKernels();

}  // namespace millrace
