// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "millrace/formats/model.h"

// Do two ways of running a model give the same outputs, but for rounding?
namespace millrace::ort {

// Engines fuse and order sums otherwise in a part than in the whole model. Two floating-point elements agree that
// differ by no more than this share of the largest element of the tensor.
inline constexpr double kTolerance = 1e-3;

// One line that tells where `found` is another tensor than `expected`; empty where they agree. Numbers that are not
// finite have to be the same, integers and booleans as well. Both have the size of the value's type and shape.
std::string WhyNotTheSame(const Value& value, std::span<const std::byte> expected, std::span<const std::byte> found);

}  // namespace millrace::ort
