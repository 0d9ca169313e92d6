// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "millrace/optimize/candidate.h"
#include "millrace/report/plan_difference.h"

// Two plans of one graph side by side, for people: a page as html.h's.
namespace millrace {

struct PlansToCompare {
  const ComputationGraph& graph;
  const Machine& machine;
  const Candidate& plan;
  const Candidate& with;
  Proxy proxy = Proxy::kLinear;
  const PlanDifference& difference;  // of `plan` and `with`
};

// Sections: which is faster and where its time goes; both timelines on one axis; what moved and what putting it back
// would cost; devices. Ids: #summary #timelines #moves #devices #words.
std::string CompareHtml(const PlansToCompare& plans);

}  // namespace millrace
