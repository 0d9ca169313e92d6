// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/colocated_groups.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace millrace {
namespace {

double SecondsOf(const CostedGraph& costed, const std::vector<int>& groups, int device) {
  double total = 0;
  for (const int group : groups) total += costed.Seconds(group, device);
  return total;
}

// The wished device, or the fastest where it cannot run them.
int Settle(const CostedGraph& costed, const std::vector<int>& groups, int wished) {
  if (std::isfinite(SecondsOf(costed, groups, wished))) return wished;
  int best = 0;
  for (int device = 1; device < costed.num_devices; ++device) {
    if (SecondsOf(costed, groups, device) < SecondsOf(costed, groups, best)) best = device;
  }
  return best;
}

}  // namespace

ColocatedGroups ColocatedGroupsOf(const CostedGraph& costed) {
  ColocatedGroups bound;
  bound.vertex_of.resize(static_cast<std::size_t>(costed.num_groups));
  std::vector<int> of_colocation(static_cast<std::size_t>(costed.num_colocations), -1);
  for (int group = 0; group < costed.num_groups; ++group) {
    const std::int32_t colocation = costed.colocation[static_cast<std::size_t>(group)];
    int vertex = colocation < 0 ? -1 : of_colocation[static_cast<std::size_t>(colocation)];
    if (vertex < 0) {
      vertex = static_cast<int>(bound.groups.size());
      bound.groups.emplace_back();
      if (colocation >= 0) of_colocation[static_cast<std::size_t>(colocation)] = vertex;
    }
    bound.vertex_of[static_cast<std::size_t>(group)] = vertex;
    bound.groups[static_cast<std::size_t>(vertex)].push_back(group);
  }
  return bound;
}

std::vector<int> LoneDevices(const CostedGraph& costed) {
  int fewest = std::numeric_limits<int>::max();
  for (int device = 0; device < costed.num_devices; ++device)
    fewest = std::min(fewest, costed.topology.UnitsOf(device));
  std::vector<char> taken(static_cast<std::size_t>(costed.topology.num_units), 0);
  std::vector<int> lone;
  for (int device = 0; device < costed.num_devices; ++device) {
    if (costed.topology.UnitsOf(device) != fewest) continue;
    const auto begin =
        costed.topology.device_units.begin() + costed.topology.device_offsets[static_cast<std::size_t>(device)];
    const bool shared =
        std::any_of(begin, begin + fewest, [&](std::int32_t u) { return taken[static_cast<std::size_t>(u)] != 0; });
    if (shared) continue;
    for (int u = 0; u < fewest; ++u) taken[static_cast<std::size_t>(*(begin + u))] = 1;
    lone.push_back(device);
  }
  return lone;
}

double FiniteSeconds(const CostedGraph& costed, int group, int device) {
  const double here = costed.Seconds(group, device);
  return std::isfinite(here) ? here : costed.fastest_seconds[static_cast<std::size_t>(group)];
}

std::vector<int> PlacementWished(const CostedGraph& costed, const ColocatedGroups& bound,
                                 const std::vector<int>& wished) {
  std::vector<int> placement(static_cast<std::size_t>(costed.num_groups));
  for (std::size_t vertex = 0; vertex < bound.groups.size(); ++vertex) {
    const int device = Settle(costed, bound.groups[vertex], wished[vertex]);
    for (const int group : bound.groups[vertex]) placement[static_cast<std::size_t>(group)] = device;
  }
  return placement;
}

}  // namespace millrace
