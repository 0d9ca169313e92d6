// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "millrace/formats/model.h"

// What executing a node costs, from the shapes of what it reads and makes.
namespace millrace {

// Floating-point operations, a multiplication with an addition counted as two. Ops that only move data have none; an op
// of unknown type counts one per element it makes.
double FlopsOf(const Model& model, const Node& node);

// The bytes a node moves through memory when run alone, where that is far from the sum of all it reads and makes:
// reshapes move nothing, Gather and Slice read only what they take. Nothing where the sum is right.
std::optional<double> BytesAccessedBy(const Model& model, const Node& node);

}  // namespace millrace
