// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/runtime/kernel_registry.h"

// Averages of 8-bit integers, with the channels innermost: com.microsoft's QLinearAveragePool and
// QLinearGlobalAveragePool (ONNX Runtime). A gang shares out the rows of the result.
namespace millrace {

std::vector<KernelEntry> ByteAverageKernels();

}  // namespace millrace
