// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "millrace/planning/planner.h"

// Schedules that spare memory first and time second: what is left to try where no fast plan fits.
namespace millrace {

// Offers each order of memory_saving_order.h, and the topological one, with several placements: everything on the
// device with the most memory; and for each group in turn a device that seems to have room (MemoryLedger), where it
// adds the fewest bytes, where most room is left, or where it finishes first, with a byte it adds there counted as a
// delay, from not at all to a lot. kMemorySavingOffers at most; Budget::seconds ends it after the offer at hand.
inline constexpr int kMemorySavingOffers = 24;
std::unique_ptr<Planner> MakeMemorySaving();

}  // namespace millrace
