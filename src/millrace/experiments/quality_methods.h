// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "millrace/experiments/quality.h"
#include "millrace/experiments/sampler_settings.h"

// The methods of the quality experiment.
namespace millrace {

// heft (the better of with and without insertion: the reference, always the first); heuristics (the best of all with
// one answer); randomised-list (best of 64); brkga-1s; anneal-0.1s, -1s, -10s; gflownet (best of 64, zero-shot);
// gflownet+search-0.1s, -1s, -10s, which is all they take, sampling included; the last only on the first graph of each
// cell.
std::vector<std::string> QualityMethodNames();

// Those of the names, in the order above; `heft` whether named or not; none: all. Throws InvalidInput for a name that
// is not one of them, and for weights that cannot be used.
std::vector<QualityMethod> MakeQualityMethods(const std::vector<std::string>& names, const SamplerSettings& settings);

}  // namespace millrace
