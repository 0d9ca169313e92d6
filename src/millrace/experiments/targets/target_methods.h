// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "millrace/experiments/targets/on_targets.h"
#include "millrace/planning/registry.h"

// The methods of the experiments on targets.
namespace millrace {

struct TargetMethodOptions {
  std::size_t top_k = 100;      // plans a method may hand to a target
  std::int64_t samples = 1000;  // plans that planners that draw choose them from
  double search_seconds = 2;    // of planners that search, and of all that optimize does for a target
};

// By the proxy, planners of the registry: list, heft (both of them), etf, randomised-list-100 (as many drawn as are
// handed on), randomised-list, brkga (its last population), anneal (one plan), anneal-100-chains, gflownet,
// gflownet-untrained, gflownet+search, gflownet-untrained+search, ppo (where there are weights: gflownet with these).
//
// Told each target's own linear model: heft-informed, etf-informed.
//
// Told what the first plans took, with its baselines counted among the plans: optimize, the whole of it;
// optimize-untrained, where the learned planners have the weights that training starts from; optimize-by-proxy, where
// the stages that doubt or correct the proxy are left out. These three are contenders.
std::vector<std::string> TargetMethodNames();

struct TargetPlanners {
  std::shared_ptr<const PlannerRegistry> usual;
  std::shared_ptr<const PlannerRegistry> ppo;  // with weights trained by PPO; null: no ppo among the methods
};

// Those of the names in the order above; none: all. Throws InvalidInput for a name that is not one of them, and for
// weights that cannot be used.
std::vector<TargetMethod> MakeTargetMethods(const std::vector<std::string>& names, const TargetPlanners& planners,
                                            const TargetMethodOptions& options);

}  // namespace millrace
