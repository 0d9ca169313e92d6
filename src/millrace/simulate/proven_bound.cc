// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/proven_bound.h"

#include <algorithm>
#include <utility>

#include "millrace/simulate/bounds.h"
#include "millrace/simulate/energy_bound.h"
#include "millrace/simulate/narrowed.h"
#include "millrace/simulate/path_bounds.h"
#include "millrace/simulate/priced_bound.h"
#include "millrace/simulate/time_step.h"
#include "millrace/simulate/work_bound.h"

namespace millrace {
namespace {

// The largest limit found, from a bound upwards, that no plan stays below.
double NarrowingBound(const CostedGraph& costed, double known) {
  constexpr int kMostGroups = 256;
  if (costed.num_groups > kMostGroups || !(known > 0)) return known;
  const auto possible = [&costed](double limit) { return NarrowBelow(costed, limit).possible; };
  double step = known / 16;
  constexpr int kMostSteps = 30;
  for (int i = 0; i < kMostSteps && !possible(known + step); ++i) {
    known += step;
    step *= 2;
  }
  constexpr int kHalvings = 8;
  for (int i = 0; i < kHalvings; ++i) {
    step /= 2;
    if (!possible(known + step)) known += step;
  }
  return known;
}

}  // namespace

double LinearProvenBound(const CostedGraph& costed) {
  const PathBounds paths = MakePathBounds(costed);
  double bound = std::max({LowerBound(costed), paths.longest, MakeWorkBound(costed).seconds, PricedBound(costed)});
  const double step = TimeStep(costed);
  bound = EnergyBound(costed, paths, RoundUpToStep(bound, step));
  return RoundUpToStep(NarrowingBound(costed, bound), step);
}

double ProvenBound(const CostedGraph& costed) {
  Topology topology = TopologyForAnyTimeline(costed.topology);
  if (topology.latency == costed.topology.latency && topology.seconds_per_byte == costed.topology.seconds_per_byte)
    return LinearProvenBound(costed);  // a copy of a large graph takes its time
  CostedGraph any = costed;
  any.topology = std::move(topology);
  return LinearProvenBound(any);
}

double ProvenBoundFor(const CostedGraph& costed, bool fits) {
  if (fits) return ProvenBound(costed);
  CostedGraph unlimited = costed;
  unlimited.limited_memory = false;
  return ProvenBound(unlimited);
}

}  // namespace millrace
