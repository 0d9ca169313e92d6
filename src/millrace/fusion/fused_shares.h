// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "millrace/cost/cost_model.h"
#include "millrace/plan/plan.h"

// Times of single ops that foresee what fusing them will save.
namespace millrace {

// A model by which an op alone takes its share of its group's time: as long as all ops of the group take together on
// that device when fused, in proportion to what each takes alone. A search over single ops under it is free to part any
// two ops, as one over groups is not, and does not flee from costs that fusing takes away. Where the group cannot run
// an op keeps its own time; so do groups of several ops, and transfers. `groups` must satisfy WhyNotGroups. Seconds.
// `base` must outlive the copy.
std::unique_ptr<CostModel> MakeFusedSharesModel(const CostModel& base, const FusionGroups& groups);

}  // namespace millrace
