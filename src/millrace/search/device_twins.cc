// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/device_twins.h"

#include <algorithm>

namespace millrace {
namespace {

std::size_t Index(int number) { return static_cast<std::size_t>(number); }

bool OwnsItsUnitAlone(const Topology& topology, int device) {
  return topology.UnitsOf(device) == 1 &&
         std::count(topology.memory_of.begin(), topology.memory_of.end(), topology.memory_of[Index(device)]) == 1;
}

bool LinksAlike(const Topology& topology, std::size_t a, std::size_t b) {
  return topology.latency[a] == topology.latency[b] && topology.seconds_per_byte[a] == topology.seconds_per_byte[b] &&
         topology.free[a] == topology.free[b];
}

bool AreTwins(const CostedGraph& costed, int a, int b) {
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

std::vector<int> FirstTwins(const CostedGraph& costed) {
  std::vector<int> first;
  for (int device = 0; device < costed.num_devices; ++device) {
    int twin = 0;
    while (twin < device && !(first[Index(twin)] == twin && AreTwins(costed, twin, device))) ++twin;
    first.push_back(twin);
  }
  return first;
}

}  // namespace millrace
