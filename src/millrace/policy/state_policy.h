// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "millrace/policy/policy.h"
#include "millrace/policy/weights.h"

// The topoformer that encodes the whole state again at every step (topoformer.h, "state"): closest to the paper and to
// what can be learned at all, at the price of one encoding per step.
namespace millrace {

std::unique_ptr<Policy> MakeStateTopoformer(const Weights& weights);

// Throws InvalidInput for more than kMostTopoformerGroups.
void CheckGroupsForTopoformer(int groups);

}  // namespace millrace
