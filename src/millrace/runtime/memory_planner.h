// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "millrace/runtime/memory_halves.h"

// Where each buffer of a program lies in one block of memory, so that buffers that are never in use together share
// their place. Bytes.
//
// When are two buffers never in use together? Times cannot say: a worker may be late in one run and early in the next.
// Only the partial order of the steps can: step a comes before step b in every run iff b's worker knows, when it starts
// b, that every worker of a has finished it, because it did a itself earlier or waited (directly or through others) for
// it. What a worker knows is a clock: for each worker, how many of that worker's steps are certainly finished. So:
//
//   - a buffer is first touched by its writer; `born` is the writer's clock at its start (of a gang, the least of its
//     workers' clocks, for each of them starts on its own);
//   - it is last touched by its readers, or its writer; `dead` says for each worker how many of its steps must be
//     finished before nobody touches the buffer any more.
//
// Buffer x may lie where y will lie iff dead(x) <= born(y) for every worker: when y's first byte is written, everybody
// who touches x has finished, whatever the timing, and the waits that make it known also make x's accesses happen
// before y's in the sense of the C++ memory model.
//
// Places are given greedily first: larger buffers first, each at the lowest offset that is free of the placed buffers
// that it may not share with (Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020;
// there lifetimes are intervals of one order, here of the partial one). O(buffers squared x workers). Where that takes
// more than the bound below, and there are not too many buffers, memory_packing.h searches for less. Buffers of gangs
// go where memory_halves.h puts them, unless that takes far more.
namespace millrace {

// Steps of each worker that are certainly finished.
using VectorClock = std::vector<std::uint32_t>;

struct BufferLife {
  std::size_t bytes = 0;
  VectorClock born, dead;  // of equal length; ignored where the buffer is kept
  bool kept = false;       // holds its content before, through and after the run: shares with nobody
  Writers writers = Writers::kOne;
  int inside = -1;  // lies in this later buffer, whose life covers its own, from byte `offset` on; -1: in none
  std::size_t offset = 0;
};

struct MemoryLayout {
  std::vector<std::size_t> offsets;  // by buffer; multiples of kMemoryAlignment
  std::size_t bytes = 0;             // of the whole block
};

struct MemoryPlanOptions {
  std::int64_t visits = 3'000'000;  // of one buffer by another, about, that the search may make; 0: no search
  double most_for_halves = 1.5;     // times what it takes otherwise, before a search; 0: nothing is done for them
};

// True where the two may never overlap in memory.
bool InUseTogether(const BufferLife& a, const BufferLife& b);

// The same lives and options, the same layout.
MemoryLayout PlanMemory(const std::vector<BufferLife>& buffers, const MemoryPlanOptions& options = {});

// What no layout can take less than: the kept buffers, and the most that others in use at the birth of one of them
// take together. Bytes. O(buffers squared x workers).
std::size_t LeastMemory(const std::vector<BufferLife>& buffers);

}  // namespace millrace
