// SPDX-License-Identifier: Apache-2.0
#include "millrace/plan/chain_graph.h"

#include <algorithm>

namespace millrace {

std::vector<std::vector<int>> UnitChains(const Topology& topology, const Assignment& assignment) {
  std::vector<std::vector<int>> chains(static_cast<std::size_t>(topology.num_units));
  for (const int group : assignment.sequence) {
    const auto device = static_cast<std::size_t>(assignment.placement[static_cast<std::size_t>(group)]);
    for (std::int32_t i = topology.device_offsets[device]; i < topology.device_offsets[device + 1]; ++i) {
      chains[static_cast<std::size_t>(topology.device_units[static_cast<std::size_t>(i)])].push_back(group);
    }
  }
  return chains;
}

std::vector<std::pair<int, int>> ChainEdges(const Topology& topology, const Assignment& assignment) {
  std::vector<std::pair<int, int>> edges;
  for (const std::vector<int>& chain : UnitChains(topology, assignment)) {
    for (std::size_t i = 1; i < chain.size(); ++i) edges.emplace_back(chain[i - 1], chain[i]);
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

}  // namespace millrace
