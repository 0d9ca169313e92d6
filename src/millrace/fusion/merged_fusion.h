// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/cost/cost_model.h"
#include "millrace/plan/plan.h"

// Fusion by a fixed rule that goes further than greedy_fusion.h: whole groups join each other.
namespace millrace {

// Where several elementwise ops meet that read different producers, as the gates of an LSTM cell do, greedy fusion puts
// the op that joins them to one of them and leaves the others alone. Here the greedy groups are taken in topological
// order, each with the groups it reads, that of the largest tensor first, and two become one where that is legal
// (plan/fusion_table.h), keeps an order, and takes less time than both apart on the device where fusing helps most.
// What runs in one group runs one after the other, so a plan may be worse for it: it is one way among others.
// Deterministic, O(edges log edges) on graphs whose groups are small. Kept groups (cost/steering.h) stand. Of a
// greedy group a part of which has a stated time that closes a device, the ops may stay apart.
FusionGroups MergedFusion(const CostModel& model);

}  // namespace millrace
