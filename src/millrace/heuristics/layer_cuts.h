// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "millrace/planning/planner.h"

// The human placement with its borders moved: blocks that take equally long are not the fastest where a step goes
// forward through all layers and back, and several batches or time steps overlap.
namespace millrace {

// The planner `layer-cuts`: begins with layers in balanced blocks (layer_blocks.h) on all devices, then on fewer, and
// moves the border between two blocks by an eighth of the layers, a sixteenth and so on down to one, as long as the
// plan gets faster. Each placement is in the best of all orders (placement_orders.h). Offers the last one. The first is
// `expert`, which it is never behind; it tries fewer on large graphs, and ends after the one at hand when
// Budget::seconds are over.
PlannerTraits LayerCutsTraits();
std::unique_ptr<Planner> MakeLayerCuts();

}  // namespace millrace
