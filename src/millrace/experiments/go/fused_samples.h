// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "millrace/experiments/go/go_methods.h"
#include "millrace/gflownet/policy/policy.h"

// The GFlowNet's policy over groups that are drawn, too (gflownet/sampling/fused_sampler.h): no planner of the
// registry.
namespace millrace {

// Fusion, placement and order of each plan are drawn together, merges by what they save, the rest at the temperatures
// of the planner `gflownet`, for so many seconds; at least one plan, however long that takes. The `measured` best by
// the proxy are tried on the target, and the fastest there is the answer.
GoMethod FusedSamples(std::string name, std::shared_ptr<const Policy> placing, double seconds, std::size_t measured);

}  // namespace millrace
