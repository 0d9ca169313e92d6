// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/optimize/optimize.h"

// What the measurements of a run say about the proxy and about planning.
namespace millrace {

// The winner is whatever is fastest in the end, a baseline too, and the plan chosen before is then its challenger; then
// how many times as long each of the others takes.
void YieldToFasterBaseline(OptimizeResult& result);

// One plan, one time: candidates that were measured again in the final comparison have what it found.
void KeepFinalTimes(OptimizeResult& result);

// Rank correlation and median error of the proxy over measured candidates; whether the target tells plans apart.
void JudgeProxy(OptimizeResult& result);

// After how many runs planning has paid for itself.
void JudgePayback(OptimizeResult& result);

}  // namespace millrace
