// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "millrace/planning/planner.h"

// What a source of candidates offers, for tests that look at all of it.
namespace millrace::testing {

// In the order of the offers, equal ones included.
inline std::vector<Assignment> Offers(const Planner& source, const CostedGraph& costed, const Budget& budget,
                                      Random random) {
  std::vector<Assignment> offers;
  source.Propose(costed, budget, random,
                 [&offers](ProposedPlan offered) { offers.push_back(std::move(offered.assignment)); });
  return offers;
}

}  // namespace millrace::testing
