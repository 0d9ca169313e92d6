// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "millrace/optimize/optimize.h"

// The result of an optimisation as the JSON object `millrace optimize --json` prints.
namespace millrace {

// One line. Members: best, baselines, candidates, lower_bound_seconds, proxy_rank_correlation, pays_back_after_runs,
// and more for the curious (docs/formats.md). What was not measured is null.
std::string ResultJson(const OptimizeResult& result);

// A candidate as a plan file says it.
PlanRecord RecordOf(const OptimizeResult& result, const Candidate& candidate);

}  // namespace millrace
