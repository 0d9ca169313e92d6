// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "millrace/experiments/on_targets.h"
#include "millrace/experiments/sampler_settings.h"

// The methods of the experiments on targets.
namespace millrace {

struct TargetMethodOptions {
  std::size_t top_k = 100;                     // plans a method may hand to a target
  std::int64_t samples = 1000;                 // plans that methods that draw choose them from
  std::int64_t search_iterations = 1'000'000;  // changes annealing and polishing try
};

// By the proxy: list, heft (both of them), etf, randomised-list-100 (as many drawn as are handed on), randomised-list
// (1000 drawn), brkga (its last population), anneal (100 chains), ppo (where there are weights), gflownet.
// By each target's own linear model: heft-informed, etf-informed.
// Contenders: pipeline, which hands on the best that differ of all heuristics, the gflownet's samples at several
// temperatures and polished ones; pipeline-doubt, the same for several guesses at what transfers and ops cost, as
// randomised-list-doubt is of randomised-list; optimize, the whole of `millrace optimize`, which also learns from the
// first plans' times on the target what transfers cost there, its baselines counted among the plans.
std::vector<std::string> TargetMethodNames();

// Those of the names in the order above; none: all (ppo only with weights). Throws InvalidInput for a name that is not
// one of them, and for weights that cannot be used.
std::vector<TargetMethod> MakeTargetMethods(const std::vector<std::string>& names, const SamplerSettings& settings,
                                            const TargetMethodOptions& options);

}  // namespace millrace
