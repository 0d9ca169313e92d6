// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "millrace/runtime/kernel.h"

// GridSample of float32 in one to three spatial dimensions: values of an image at places that a second tensor names,
// nearest, linear or cubic, with zeros, the border or a reflection outside.
namespace millrace {

std::unique_ptr<Kernel> MakeGridSample(const KernelRequest& request);
std::string GridSampleUnsupported(const Model& model, int node);

}  // namespace millrace
