// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/runtime/kernel_registry.h"

// Softmax and LogSoftmax over one axis (opset 13 and later) or over all axes from one on (before).
namespace millrace {

std::vector<KernelEntry> SoftmaxKernels();

}  // namespace millrace
