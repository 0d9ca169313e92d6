// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

// Packs buffers into a block of given height: the search behind memory_planner.h, which knows what buffers are.
//
// Buffers are placed from the bottom up, each on top of those that it may not share with, so that offsets never fall:
// every packing that cannot be pushed down is found so. A buffer is not placed above a hole that another one fits into.
// A branch ends where the buffers of a cut that are still to be placed do not fit above the lowest place that one of
// them could have. What falls apart into parts that share nothing is searched part by part. (Moffitt, "MiniMalloc: A
// Lightweight Memory Allocator for Hardware-Accelerated Machine Learning", ASPLOS 2023, on lifetimes of one order.)
// Ours: searches are short and begun again, and buffers of cuts that made branches end come first the next time, as
// constraint solvers do (Boussemart and others, "Boosting Systematic Search by Weighting Constraints", 2004).
namespace millrace {

struct PackingProblem {
  std::vector<std::int64_t> sizes;          // > 0
  std::vector<std::vector<int>> conflicts;  // by buffer: those that it may not overlap with, ascending; symmetric
  std::vector<std::vector<int>> cuts;       // sets of buffers that all conflict with each other; each buffer in one
};

struct Packing {
  std::vector<std::int64_t> offsets;  // by buffer
  std::int64_t height = 0;            // the highest end
};

// The highest of what the buffers of a cut take together.
std::int64_t HighestCut(const PackingProblem& problem);

// The buffers by size; of equal ones the earlier first.
std::vector<int> LargestFirst(const PackingProblem& problem);

// Each buffer at the lowest offset that is free, the largest first. Those with an offset in `placed`, which is empty or
// has one for each, or kUnplaced, stay there; they overlap with none that they may not overlap with.
inline constexpr std::int64_t kUnplaced = -1;
Packing FirstFit(const PackingProblem& problem, std::vector<std::int64_t> placed = {});

// The lowest packing found: never higher than `start`. `visits`: of one buffer by another, at most, about. Draws from a
// seed of its own, so that a program is always laid out alike.
Packing PackLower(const PackingProblem& problem, Packing start, std::int64_t visits);

}  // namespace millrace
