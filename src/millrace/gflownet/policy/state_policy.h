// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "millrace/gflownet/policy/policy.h"
#include "millrace/network/weights.h"

// The Topoformer that encodes the whole state again at every step (topoformer.h, "state"). It is closest to the paper
// and can learn the most, at the cost of one encoding per step.
namespace millrace {

std::unique_ptr<Policy> MakeStateTopoformer(const Weights& weights);

// Throws InvalidInput for more than kMostTopoformerGroups.
void CheckGroupsForTopoformer(int groups);

}  // namespace millrace
