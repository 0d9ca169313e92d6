// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/heuristics/partial_schedule.h"

// Placements made without a schedule in mind: what people, graph partitioners and frameworks do. A device for each
// group; colocations hold, and a group whose device cannot run it goes where it is fastest.
namespace millrace {

// The human expert: consecutive layers in one block per device, in the order of the devices, so that the block that
// takes longest takes as little as can be (layer_blocks.h).
//
// This is how recurrent and attention models are cut by hand (each layer on a GPU of its own: Sutskever, Vinyals, Le,
// "Sequence to sequence learning with neural networks", 2014; Wu et al., "Google's neural machine translation system",
// 2016) and convolutional ones by stages.
std::vector<int> PlaceByLayers(const CostedGraph& costed);

// METIS, k-way: parts of equal work, or in proportion to how fast the devices are, with the fewest seconds of transfers
// between them. It knows neither directions nor time. Colocations are one vertex each. Gangs stay unused.
// Graphs of a few vertices per device are dealt out instead, the heaviest vertex first.
// Source: Karypis, Kumar, "A fast and high quality multilevel scheme for partitioning irregular graphs", SIAM J.
// Scientific Computing 1998.
std::vector<int> PlaceByPartition(const CostedGraph& costed);

// What a framework does on its own: everything on the first device that can run it and whose memory, as MemoryLedger
// judges it in topological order, is not full.
std::vector<int> PlaceUntilFull(const CostedGraph& costed);

// `expert` and `metis` as schedulers: the placement in the best of all orders (placement_orders.h) by the proxy.
PlannedAssignment ScheduleExpert(const CostedGraph& costed);
PlannedAssignment ScheduleMetis(const CostedGraph& costed);

}  // namespace millrace
