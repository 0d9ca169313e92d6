// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "millrace/runtime/kernel.h"

// Ops that go along one axis, line by line: ArgMax, ArgMin, CumSum, Hardmax, TopK.
namespace millrace {

std::unique_ptr<Kernel> MakeLineKernel(const KernelRequest& request);
std::string LineKernelUnsupported(const Model& model, int node);

}  // namespace millrace
