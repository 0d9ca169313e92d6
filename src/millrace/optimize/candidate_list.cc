// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/candidate_list.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "millrace/errors/errors.h"

namespace millrace {

bool Contains(const std::vector<Candidate>& candidates, const Candidate& candidate) {
  return std::any_of(candidates.begin(), candidates.end(),
                     [&candidate](const Candidate& other) { return other.plan == candidate.plan; });
}

void AddUnlessKnown(const Candidate& candidate, std::vector<Candidate>& candidates) {
  if (!Contains(candidates, candidate)) candidates.push_back(candidate);
}

double JudgedSeconds(const Candidate& candidate, bool robust) {
  const double seconds = candidate.target_seconds.value_or(std::numeric_limits<double>::infinity());
  return robust ? seconds * std::max(1.0, candidate.fragility.value_or(1)) : seconds;
}

const Candidate& FastestMeasured(const std::vector<Candidate>& candidates, bool robust) {
  const Candidate* best = nullptr;
  for (const Candidate& candidate : candidates) {
    if (!candidate.target_seconds) continue;
    if (best == nullptr || JudgedSeconds(candidate, robust) < JudgedSeconds(*best, robust)) best = &candidate;
  }
  if (best == nullptr) {
    throw WorkFailed("every measurement failed; the first said: " +
                     (candidates.empty() ? "nothing to measure" : candidates.front().failure));
  }
  return *best;
}

bool AllTakeTheSame(const std::vector<Candidate>& candidates) {
  std::optional<double> same;
  int measured = 0;
  for (const Candidate& candidate : candidates) {
    if (!candidate.target_seconds) continue;
    if (same.value_or(*candidate.target_seconds) != *candidate.target_seconds) return false;
    same = candidate.target_seconds;
    ++measured;
  }
  return measured > 1;
}

Candidate AsRaced(const Candidate& plan, const std::vector<Candidate>& raced) {
  const auto found = std::find_if(raced.begin(), raced.end(),
                                  [&plan](const Candidate& candidate) { return candidate.plan == plan.plan; });
  Candidate candidate = found == raced.end() ? plan : *found;
  candidate.method = plan.method;
  return candidate;
}

}  // namespace millrace
