// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "millrace/cost/cost_model.h"
#include "millrace/plan/plan.h"

// The ways of fusing a graph that planners are asked to plan for.
namespace millrace {

// One way of forming groups, by name: none, greedy, measured, merged.
struct FusionOption {
  std::string name;
  FusionGroups groups;
};

// None and greedy (greedy_fusion.h). Between them, where the model knows times of fused groups, `measured`: the greedy
// groups that are no slower fused than apart on the device where fusing helps most, the others taken apart; where it
// knows none, `merged` (merged_fusion.h), whose groups nobody has timed. Equal ones are listed once. Groups that the
// model keeps (cost/steering.h) are in all of them.
std::vector<FusionOption> FusionOptions(const CostModel& model);

}  // namespace millrace
