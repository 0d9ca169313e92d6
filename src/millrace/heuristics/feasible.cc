// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/feasible.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace millrace {
namespace {

constexpr int kTargetedTries = 8;
constexpr int kEvenTries = 8;
constexpr int kTries = kTargetedTries + kEvenTries;
constexpr double kMargin = 0.97;      // lowered a little further than the overflow, or the next try would just miss
constexpr double kMostLowered = 0.5;  // in one try: an overflow says little about a plan that is very different

// The share of all capacity that the weights alone need; 0 where some memory has no limit.
double WeightShare(const CostedGraph& costed) {
  double capacity = 0;
  for (const double bytes : costed.topology.memory_bytes) capacity += bytes;
  double weights = 0;
  for (const double bytes : costed.weight_bytes) weights += bytes;
  return capacity > 0 ? std::min(1.0, weights / capacity) : 0.0;
}

void LowerWhereOverfull(const CostedGraph& costed, const std::vector<double>& peaks, std::vector<double>& limits) {
  for (std::size_t memory = 0; memory < limits.size(); ++memory) {
    const double capacity = costed.topology.memory_bytes[memory];
    if (peaks[memory] > capacity) limits[memory] *= std::max(kMostLowered, kMargin * capacity / peaks[memory]);
  }
}

}  // namespace

std::optional<BestOf> RunSourceInMemory(const CandidateSource& source, const CostedGraph& costed,
                                        const SourceBudget& budget, Random& random, std::size_t most) {
  SourceBudget first = budget;
  if (costed.limited_memory && budget.seconds) first.seconds = *budget.seconds / 2;
  BestOf best = RunSource(source, costed, first, random, most);
  if (!best.kept.empty()) return best;
  if (!costed.limited_memory || best.nearest_peaks.empty()) return std::nullopt;
  SourceBudget further = budget;
  if (budget.seconds) further.seconds = *budget.seconds / 2 / kTries;
  CostedGraph shown = costed;
  std::vector<double>& limits = shown.topology.memory_bytes;
  const double share = WeightShare(costed);
  for (int attempt = 0; attempt < kTries; ++attempt) {
    if (attempt < kTargetedTries) {
      LowerWhereOverfull(costed, best.nearest_peaks, limits);
    } else {
      const double lowered = std::pow(std::max(share, 0.1), (attempt - kTargetedTries + 1.0) / kEvenTries);
      for (std::size_t memory = 0; memory < limits.size(); ++memory)
        limits[memory] = costed.topology.memory_bytes[memory] * lowered;
    }
    best = RunSourceShown(source, shown, costed, further, random, most);
    if (!best.kept.empty()) return best;
    if (best.nearest_peaks.empty()) return std::nullopt;  // it offered nothing at all
  }
  return std::nullopt;
}

}  // namespace millrace
