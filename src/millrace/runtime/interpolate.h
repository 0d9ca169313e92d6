// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "millrace/runtime/kernel.h"

// Resize and Upsample of float32 by linear or cubic interpolation over any of the dimensions.
namespace millrace {

std::unique_ptr<Kernel> MakeInterpolation(const KernelRequest& request);
std::string InterpolationUnsupported(const Model& model, int node);

}  // namespace millrace
