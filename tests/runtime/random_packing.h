// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "millrace/random/random.h"
#include "millrace/runtime/memory_packing.h"

// What the tests of packings share: buffers whose lives are drawn by chance, and what holds of every packing.
namespace millrace::testing {

// Buffers in use from one moment to another of a single order, whose moments are its cuts.
struct Interval {
  int begin = 0, end = 0;
  std::int64_t size = 0;
};

PackingProblem ProblemOf(const std::vector<Interval>& intervals);

// So many buffers of 1 to `sizes` bytes, in use for up to half of the moments.
PackingProblem RandomProblem(Random& random, std::size_t count, int moments, std::uint64_t sizes);

// Fails the test where buffers that conflict overlap, or the height is not the highest end.
void ExpectValid(const PackingProblem& problem, const Packing& packing);

}  // namespace millrace::testing
