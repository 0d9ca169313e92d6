// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "millrace/cost/cost_model.h"

// The cost model of docs/formats.md: stated times first, else a roofline.
namespace millrace {

// Duration of a group on a device: its group_seconds entry where the graph has one; else the sum of its ops' stated
// seconds, plus for the ops without, if any, one launch and max(flops / rate, bytes / memory bandwidth), bytes being
// the distinct tensors those ops read that the group did not make, the tensors they make that have a reader outside
// the group or none, and their weights; a one-op group with bytes_accessed uses that instead.
//
// `proxy` says by which timeline plans under this model are judged. The graph must outlive the model; the machine is
// copied. Source: Williams, Waterman, Patterson, "Roofline", 2009.
std::unique_ptr<CostModel> MakeAnalyticCostModel(const ComputationGraph& graph, const Machine& machine,
                                                 Proxy proxy = Proxy::kLinear);

}  // namespace millrace
