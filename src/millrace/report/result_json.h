// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/optimize/optimize.h"

// The result of an optimisation as the JSON object `millrace optimize --json` prints and result.json holds.
namespace millrace {

inline constexpr const char* kResultFormat = "millrace.result";

// One line. Members: best, baselines, candidates, lower_bound_seconds, proxy_rank_correlation, pays_back_after_runs,
// and more for the curious (docs/formats.md). What was not measured is null.
std::string ResultJson(const OptimizeResult& result);

// A candidate as a plan file says it.
PlanRecord RecordOf(const OptimizeResult& result, const Candidate& candidate);

// The other way round, as far as the file goes: graph, machine and plans are those of other files. A candidate's plan
// hash stands in for its plan.
struct StoredCandidate {
  Candidate candidate;  // without its plan
  std::string plan_hash;
};
struct StoredResult {
  OptimizeResult result;  // with the candidates below, no plans, graph or machine
  StoredCandidate best;
  std::vector<StoredCandidate> baselines;  // as result.baselines
  std::optional<StoredCandidate> challenger;
  std::vector<StoredCandidate> candidates;  // as result.candidates
};

// Throws InvalidInput, naming the member.
StoredResult ParseResultJson(std::string_view text);

}  // namespace millrace
