// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/effort.h"

#include <algorithm>

#include "millrace/optimize/optimize.h"

namespace millrace {

Effort EffortOf(const OptimizeOptions& options) {
  Effort effort;
  if (options.quick) {
    effort.profile_seconds = 0.005;
    effort.race_seconds = 10;
    effort.comparison_seconds = 10;
    effort.race_rounds = 8;
    effort.comparison_rounds = 15;
  }
  return effort;
}

double QuickSeconds(const ComputationGraph& graph) {
  constexpr double kLeast = 10;
  constexpr double kMost = 60;
  constexpr double kLeastVisits = 10'000;
  constexpr double kMostVisits = 150'000;
  const double share = (static_cast<double>(VisitsOfAPass(graph)) - kLeastVisits) / (kMostVisits - kLeastVisits);
  return kLeast + std::clamp(share, 0.0, 1.0) * (kMost - kLeast);
}

std::int64_t VisitsOfAPass(const ComputationGraph& graph) {
  std::int64_t visits = 1;
  for (OpId op = 0; op < graph.num_ops(); ++op) visits += 1 + static_cast<std::int64_t>(graph.Predecessors(op).size());
  return visits;
}

std::int64_t SamplesFor(const OptimizeOptions& options, const ComputationGraph& graph) {
  if (options.samples) return *options.samples;
  const std::int64_t most = options.quick ? 200 : 1000;
  constexpr std::int64_t kVisits = 20'000'000;
  return std::clamp<std::int64_t>(kVisits / VisitsOfAPass(graph), 16, most);
}

std::int64_t IterationsFor(const OptimizeOptions& options, const ComputationGraph& graph) {
  if (options.iterations) return *options.iterations;
  const std::int64_t visits = options.quick ? 200'000'000 : 1'000'000'000;
  constexpr std::int64_t kPerSquare = 1000;
  constexpr std::int64_t kManyOps = 10'000;  // whose square is beyond all visits
  const std::int64_t ops = std::min<std::int64_t>(graph.num_ops(), kManyOps);
  return std::max<std::int64_t>(64, std::min(visits / VisitsOfAPass(graph), kPerSquare * ops * ops));
}

std::size_t KeepPerPlanner(const ComputationGraph& graph) {
  constexpr std::size_t kGroupsKept = 2'000'000;
  return std::clamp<std::size_t>(kGroupsKept / static_cast<std::size_t>(std::max(1, graph.num_ops())), 2, 64);
}

}  // namespace millrace
