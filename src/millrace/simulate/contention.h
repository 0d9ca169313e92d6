// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "millrace/cost/costed_graph.h"
#include "millrace/simulate/timeline.h"

// The timeline of a machine whose links are shared: what sim:contention measures. Seconds.
namespace millrace {

// As Simulator, but a channel (the links that name it, else the ordered pair of devices) serves one transfer at a time,
// first ready first served, and a tensor goes to each destination memory once. Transfers that are ready at the same
// time are served in the order of their producer's place in the sequence, then tensor id, then destination memory.
//
// The transfer to a memory goes to the device of its first reader there by the sequence. A reader on a device that the
// producer's reaches for free needs none and takes no part in it.
Timeline ContendedTimeline(const CostedGraph& costed, const Assignment& assignment);

// Its makespan; nothing where the assignment does not fit in memory (peak_memory.h).
std::optional<double> ContendedSeconds(const CostedGraph& costed, const Assignment& assignment);

}  // namespace millrace
