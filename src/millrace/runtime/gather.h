// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "millrace/runtime/kernel.h"

// Ops that move elements to or from places that a tensor of indices names: Gather, GatherElements, GatherND, Scatter,
// ScatterElements, ScatterND, OneHot, ReverseSequence. Negative indices count from the end; those outside are taken as
// the nearest inside, for a kernel can neither throw nor read past its buffers.
namespace millrace {

std::unique_ptr<Kernel> MakeGather(const KernelRequest& request);
std::string GatherUnsupported(const Model& model, int node);

}  // namespace millrace
