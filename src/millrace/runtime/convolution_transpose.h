// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/runtime/kernel_registry.h"

// ConvTranspose by oneDNN's deconvolution, with one to three spatial dimensions and groups, on plain tensors or, where
// that is faster, on tensors in blocks of channels.
namespace millrace {

std::vector<KernelEntry> ConvolutionTransposeKernels();

}  // namespace millrace
