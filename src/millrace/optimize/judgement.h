// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "millrace/optimize/optimize.h"

// What the measurements of a run say about the proxy and about planning.
namespace millrace {

// Does a target say the same time of a plan whenever it runs? Where times vary, one run says nothing of how sure a
// ratio is, and none is told.
enum class Times { kRepeat, kVary };

// The winner is whatever is fastest in the end, a baseline too, and the baseline called `usual` where nothing is faster
// than it in 95 % of all cases; the plan chosen before is then its challenger. Then how many times as long each of the
// others takes, and each of the target's own modes: these cannot win, and one that is faster for sure is a warning.
void YieldToFasterBaseline(OptimizeResult& result, const std::string& usual = "", Times times = Times::kRepeat);

// One plan, one time: candidates that were measured again in the final comparison have what it found.
void KeepFinalTimes(OptimizeResult& result);

// How well the proxy does over measured candidates; whether the target tells plans apart.
void JudgeProxy(OptimizeResult& result);

// After how many runs planning has paid for itself.
void JudgePayback(OptimizeResult& result);

}  // namespace millrace
