// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/optimize/candidate.h"

// What is asked of the candidates of a run.
namespace millrace {

// Is the plan among them, by whichever method?
bool Contains(const std::vector<Candidate>& candidates, const Candidate& candidate);

void AddUnlessKnown(const Candidate& candidate, std::vector<Candidate>& candidates);

// What a candidate is judged by: what the target takes; times its fragility, where that is known and above 1, if the
// plan has to hold where its order is not kept.
double JudgedSeconds(const Candidate& candidate, bool robust);

// Throws WorkFailed, quoting the first failure, where none was measured.
const Candidate& FastestMeasured(const std::vector<Candidate>& candidates, bool robust);

// Were several measured, and did all take exactly the same time? Then the target tells nothing of plans.
bool AllTakeTheSame(const std::vector<Candidate>& candidates);

// The plan with what a race found out about it.
Candidate AsRaced(const Candidate& plan, const std::vector<Candidate>& raced);

}  // namespace millrace
