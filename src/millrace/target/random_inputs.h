// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "millrace/formats/model.h"
#include "millrace/random/random.h"

// Data to run a model on when nobody gives any: what makes every op do its usual work, and none of them fail.
namespace millrace {

// The most an integer value may be, exclusive, so that everything that looks something up by it, directly or through
// ops that pass integers on (Cast, Reshape, Concat, ...), finds it; at most 100. Never below 1.
std::int64_t SafeIntegerBound(const Model& model, int value);

// Fills the plain elements of `value`: floating-point numbers uniform in [-1, 1), integers uniform in 0..bound-1,
// booleans either. `elements` has the value's size; half-precision floats and strings become zeros.
void FillRandomly(const Model& model, int value, Random& random, std::span<std::byte> elements);

}  // namespace millrace
