// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "millrace/planning/planner.h"

// What an engineer would try by hand: placements that were made without an order, in every order (placement_orders.h).
namespace millrace {

// The planner `placements`: offers the human placement, METIS's, the one that fills a device before it takes the next,
// HEFT's, and that of the problem's start if it has one, each in all orders. Budget::seconds ends it after the
// placement at hand.
PlannerTraits OrderedPlacementsTraits();
std::unique_ptr<Planner> MakeOrderedPlacements();

}  // namespace millrace
