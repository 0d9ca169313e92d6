// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/diversity.h"

#include <cmath>
#include <limits>
#include <utility>

#include "millrace/plan/chain_graph.h"
#include "millrace/plan/distance.h"
#include "millrace/simulate/timeline.h"

namespace millrace {

double MeanGroupSeconds(const CostedGraph& costed) {
  double sum = 0;
  int counted = 0;
  for (const double seconds : costed.seconds) {
    if (!std::isfinite(seconds)) continue;
    sum += seconds;
    ++counted;
  }
  return sum > 0 ? sum / counted : 1;
}

Diversity DiversityOf(const CostedGraph& costed, const std::vector<RatedAssignment>& plans) {
  if (plans.size() < 2) {
    const double none = std::numeric_limits<double>::quiet_NaN();
    return {none, none, none};
  }
  const double unit = MeanGroupSeconds(costed);
  Simulator simulator(costed);
  std::vector<std::vector<std::pair<int, int>>> edges;
  std::vector<std::vector<double>> starts;
  Timeline timeline;
  for (const RatedAssignment& plan : plans) {
    edges.push_back(ChainEdges(costed.topology, plan.assignment));
    simulator.Run(plan.assignment, timeline);
    starts.push_back(timeline.start);
    for (double& start : starts.back()) start /= unit;
  }
  Diversity sum;
  double pairs = 0;
  for (std::size_t a = 0; a < plans.size(); ++a) {
    for (std::size_t b = a + 1; b < plans.size(); ++b) {
      sum.edit += ChainEditDistance(edges[a], edges[b]);
      sum.start += StartDistance(starts[a], starts[b]);
      sum.start_and_placement += StartAndPlacementDistance(starts[a], plans[a].assignment.placement, starts[b],
                                                           plans[b].assignment.placement, 1);
      ++pairs;
    }
  }
  return {sum.edit / pairs, sum.start / pairs, sum.start_and_placement / pairs};
}

}  // namespace millrace
