// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/work_bound.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "millrace/graph/index.h"

namespace millrace {
namespace {

// The sum of what every group costs at least; adds to `load`, by unit, what each unit has to do for it. Devices that
// cost the same share a group, so that like units keep like weights.
double LeastCost(const CostedGraph& costed, const std::vector<double>& weights, std::vector<double>& load) {
  const Topology& topology = costed.topology;
  const std::vector<double> work = WeightedWork(costed, weights);
  const auto devices = Index(costed.num_devices);
  double sum = 0;
  for (std::size_t group = 0; group < Index(costed.num_groups); ++group) {
    const double* row = work.data() + group * devices;
    const double least = *std::min_element(row, row + devices);
    const auto cheapest = static_cast<double>(std::count(row, row + devices, least));
    sum += least;
    for (std::size_t device = 0; device < devices; ++device) {
      if (row[device] != least) continue;
      for (std::int32_t at = topology.device_offsets[device]; at < topology.device_offsets[device + 1]; ++at)
        load[Index(topology.device_units[Index(at)])] += costed.seconds[group * devices + device] / cheapest;
    }
  }
  return sum;
}

}  // namespace

std::vector<double> WeightedWork(const CostedGraph& costed, const std::vector<double>& unit_weights) {
  const Topology& topology = costed.topology;
  const auto devices = Index(costed.num_devices);
  std::vector<double> weight(devices, 0.0);
  for (std::size_t device = 0; device < devices; ++device) {
    for (std::int32_t at = topology.device_offsets[device]; at < topology.device_offsets[device + 1]; ++at)
      weight[device] += unit_weights[Index(topology.device_units[Index(at)])];
  }
  std::vector<double> work = costed.seconds;
  for (std::size_t at = 0; at < work.size(); ++at) {
    if (work[at] != kCannotRun) work[at] *= weight[at % devices];
  }
  return work;
}

WorkBound MakeWorkBound(const CostedGraph& costed) {
  constexpr std::int64_t kMostLooks = 20'000'000;  // at groups x devices
  constexpr std::int64_t kMostRounds = 300;
  constexpr double kStep = 0.3;
  const auto units = Index(costed.topology.num_units);
  WorkBound best;
  best.unit_weights.assign(units, 1.0 / static_cast<double>(units));
  std::vector<double> load(units, 0.0);
  best.seconds = LeastCost(costed, best.unit_weights, load);
  const std::int64_t rounds =
      std::min(kMostRounds, kMostLooks / std::max<std::int64_t>(1, static_cast<std::int64_t>(costed.seconds.size())));
  std::vector<double> weights = best.unit_weights;
  for (std::int64_t round = 0; round < rounds; ++round) {
    const double most = *std::max_element(load.begin(), load.end());
    if (!(most > best.seconds)) break;  // some plan that may split groups is as short
    double sum = 0;
    for (std::size_t unit = 0; unit < units; ++unit) {
      weights[unit] *= std::exp(kStep / std::sqrt(static_cast<double>(round + 1)) * (load[unit] / most - 1));
      sum += weights[unit];
    }
    for (double& weight : weights) weight /= sum;
    std::fill(load.begin(), load.end(), 0.0);
    const double seconds = LeastCost(costed, weights, load);
    constexpr double kBetter = 1e-9;
    if (seconds > best.seconds * (1 + kBetter)) best = {seconds, weights};
  }
  return best;
}

}  // namespace millrace
