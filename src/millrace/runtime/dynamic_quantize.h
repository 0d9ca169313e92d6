// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "millrace/runtime/kernel.h"

// DynamicQuantizeLinear: a tensor's own extremes, zero among them, become the ends of 8 bits. First every worker looks
// at its share, then each stores its share by the extremes of all.
namespace millrace {

std::unique_ptr<Kernel> MakeDynamicQuantize(const KernelRequest& request);

std::string DynamicQuantizeUnsupported(const Model& model, int node);

}  // namespace millrace
