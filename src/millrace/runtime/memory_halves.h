// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/runtime/memory_packing.h"

// Places where gangs find their own caches again. Each worker of a gang writes a part of a result, in order: the first
// half of the bytes comes from the first half of the workers. Where another worker wrote a cache line last, writing it
// waits until that one's cache has given it up, which takes three times as long as a line of one's own on two
// processors that share no cache. So such buffers lie in slots, one after the other, the middle of each where the
// middles of those before it were: whatever their sizes, every half stays with who wrote it before. Memory that workers
// hand to each other and back has slots of its own, so that it spoils no others.
namespace millrace {

enum class Writers {
  kOne,     // one worker
  kHalves,  // a gang, each a part, in order
  kMixed    // a gang, anybody anywhere
};

// `writers`: by buffer. Each of a gang's goes to the first slot of its kind in which it is in nobody's way, the largest
// first; all others to the lowest offsets that are then free (FirstFit). Bytes; middles are within a cache line of each
// other.
Packing PackByHalves(const PackingProblem& problem, const std::vector<Writers>& writers);

}  // namespace millrace
