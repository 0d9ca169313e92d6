// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "millrace/runtime/kernel.h"

// The Reduce family of ONNX: sums, means, extremes, products, norms and their logarithms over any axes.
namespace millrace {

std::unique_ptr<Kernel> MakeReduce(const KernelRequest& request);
std::string ReduceUnsupported(const Model& model, int node);

}  // namespace millrace
