// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "millrace/runtime/kernel_registry.h"

// Conv in one, two or three spatial dimensions, grouped, depthwise, dilated, with what follows it in its fusion group
// as far as oneDNN's fast kernels take it (see epilogue.h). A gang shares it out by images or by output channels.
namespace millrace {

// The request's nodes are those of EpilogueOf its Conv.
std::unique_ptr<Kernel> MakeConvolution(const KernelRequest& request);

std::vector<KernelEntry> ConvolutionKernels();

}  // namespace millrace
