// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "millrace/experiments/quality/quality.h"
#include "millrace/planning/registry.h"

// The methods of the quality experiment: planners of the registry, and what each may spend.
namespace millrace {

// heft (the better of with and without insertion: the reference, always the first); heuristics (the best of all with
// one answer); randomised-list (best of 64); brkga-1s; anneal-0.01s, -0.1s, -1s, -10s; gflownet, gflownet+beam and
// gflownet+resampling (best of 64, and with -0.01s and -0.1s of as many as there is time for); gflownet+search-0.1s,
// -1s, -10s, which is all they take, sampling included. Each gflownet also as gflownet-untrained. Searches of 10 s from
// samples only on the first graph of each cell.
std::vector<std::string> QualityMethodNames();

// Those of the names, in the order above; `heft` whether named or not; none: all. Throws InvalidInput for a name that
// is not one of them, and for weights that cannot be used.
std::vector<QualityMethod> MakeQualityMethods(const std::vector<std::string>& names, const PlannerRegistry& planners);

// `gflownet-finetuned`: best of 64 after `adapt` has fitted the weights to the graph, on the quick grid. With it anneal
// and gflownet+search, to be held against it, each for as long as it took.
std::vector<QualityMethod> MakeFinetunedMethods(
    const PlannerRegistry& planners, std::function<std::shared_ptr<const Planner>(const QualityInstance&)> adapt);

}  // namespace millrace
