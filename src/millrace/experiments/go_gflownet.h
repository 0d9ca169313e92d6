// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/experiments/go_methods.h"
#include "millrace/experiments/sampler_settings.h"

// Millrace's own sampler on the GO paper's workloads: plans drawn in proportion to a reward by the linear proxy, the
// best different ones measured under contention, the fastest of these the answer. Seconds.
namespace millrace {

// `gflownet`: placement and order of greedily fused groups; draws for so many seconds and measures the 16 best.
GoMethod GoGFlowNet(const SamplerSettings& settings, double seconds);

// `gflownet-fused`: fusion, placement and order of each plan drawn together (rollout/fused_sampler.h), merges by what
// they save. At least one plan is drawn, however long that takes.
GoMethod GoFusedGFlowNet(const SamplerSettings& settings, double seconds);

}  // namespace millrace
