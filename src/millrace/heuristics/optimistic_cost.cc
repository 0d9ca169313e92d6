// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/optimistic_cost.h"

#include <algorithm>
#include <limits>

namespace millrace {

std::vector<double> OptimisticCosts(const CostedGraph& costed, const MeanTransfer& transfer) {
  const auto devices = static_cast<std::size_t>(costed.num_devices);
  std::vector<double> costs(costed.seconds.size(), 0.0);
  for (auto group = costed.topological_order.rbegin(); group != costed.topological_order.rend(); ++group) {
    double* const row = costs.data() + static_cast<std::size_t>(*group) * devices;
    for (const GroupEdge& edge : costed.Successors(*group)) {
      const std::size_t next = static_cast<std::size_t>(edge.group) * devices;
      double anywhere = std::numeric_limits<double>::infinity();
      for (std::size_t d = 0; d < devices; ++d)
        anywhere = std::min(anywhere, costs[next + d] + costed.seconds[next + d]);
      anywhere += transfer.Seconds(edge.bytes);
      for (std::size_t d = 0; d < devices; ++d)
        row[d] = std::max(row[d], std::min(costs[next + d] + costed.seconds[next + d], anywhere));
    }
  }
  return costs;
}

}  // namespace millrace
