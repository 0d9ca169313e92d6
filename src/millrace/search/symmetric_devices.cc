// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/symmetric_devices.h"

#include <algorithm>

#include "millrace/graph/index.h"

namespace millrace {
namespace {

bool OwnsItsUnitAlone(const Topology& topology, int device) {
  return topology.UnitsOf(device) == 1 &&
         std::count(topology.memory_of.begin(), topology.memory_of.end(), topology.memory_of[Index(device)]) == 1;
}

bool LinksAlike(const Topology& topology, std::size_t a, std::size_t b) {
  return topology.latency[a] == topology.latency[b] && topology.seconds_per_byte[a] == topology.seconds_per_byte[b] &&
         topology.free[a] == topology.free[b];
}

bool AreSymmetric(const CostedGraph& costed, int a, int b) {
  const Topology& topology = costed.topology;
  if (!OwnsItsUnitAlone(topology, a) || !OwnsItsUnitAlone(topology, b)) return false;
  if (topology.memory_bytes[Index(topology.memory_of[Index(a)])] !=
      topology.memory_bytes[Index(topology.memory_of[Index(b)])])
    return false;
  for (int group = 0; group < costed.num_groups; ++group) {
    if (costed.Seconds(group, a) != costed.Seconds(group, b)) return false;
  }
  for (int other = 0; other < costed.num_devices; ++other) {
    if (other == a || other == b) continue;
    if (!LinksAlike(topology, topology.Pair(a, other), topology.Pair(b, other)) ||
        !LinksAlike(topology, topology.Pair(other, a), topology.Pair(other, b)))
      return false;
  }
  return LinksAlike(topology, topology.Pair(a, b), topology.Pair(b, a));
}

}  // namespace

std::vector<int> FirstSymmetricDevices(const CostedGraph& costed) {
  std::vector<int> first;
  for (int device = 0; device < costed.num_devices; ++device) {
    int symmetric = 0;
    while (symmetric < device && !(first[Index(symmetric)] == symmetric && AreSymmetric(costed, symmetric, device)))
      ++symmetric;
    first.push_back(symmetric);
  }
  return first;
}

}  // namespace millrace
