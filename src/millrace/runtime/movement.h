// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "millrace/runtime/kernel.h"

// Ops that move elements unchanged to places known beforehand: Transpose, Slice, Split, Pad, Expand, Tile,
// DepthToSpace, SpaceToDepth, nearest-neighbour Resize and Upsample; and those that leave them where they are, Reshape
// and its kin.
namespace millrace {

std::unique_ptr<Kernel> MakeMovement(const KernelRequest& request);
std::string MovementUnsupported(const Model& model, int node);

// Reshape, Flatten, Squeeze, Unsqueeze: the shape of the output is known, so only the elements are of interest.
std::unique_ptr<Kernel> MakeCopy(const KernelRequest& request);
std::string CopyUnsupported(const Model& model, int node);

}  // namespace millrace
