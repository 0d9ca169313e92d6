// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/sampling/plan_set.h"

#include <algorithm>

#include "millrace/plan/chain_graph.h"
#include "millrace/random/split_mix.h"

namespace millrace {
namespace {

bool OwnsOneUnit(const Topology& topology, int device) {
  if (topology.UnitsOf(device) != 1) return false;
  const std::int32_t unit =
      topology.device_units[static_cast<std::size_t>(topology.device_offsets[static_cast<std::size_t>(device)])];
  return std::count(topology.device_units.begin(), topology.device_units.end(), unit) == 1;
}

bool LinksAlike(const Topology& topology, int a, int b) {
  const auto same = [&topology](std::size_t one, std::size_t other) {
    return topology.latency[one] == topology.latency[other] &&
           topology.seconds_per_byte[one] == topology.seconds_per_byte[other] &&
           topology.free[one] == topology.free[other];
  };
  for (int other = 0; other < topology.num_devices; ++other) {
    if (other == a || other == b) continue;
    if (!same(topology.Pair(a, other), topology.Pair(b, other)) ||
        !same(topology.Pair(other, a), topology.Pair(other, b)))
      return false;
  }
  const auto memory = [&topology](int device) {
    return topology.memory_bytes[static_cast<std::size_t>(topology.memory_of[static_cast<std::size_t>(device)])];
  };
  return same(topology.Pair(a, b), topology.Pair(b, a)) && memory(a) == memory(b);
}

bool EquallyFast(const CostedGraph& costed, int a, int b) {
  for (int group = 0; group < costed.num_groups; ++group) {
    if (costed.Seconds(group, a) != costed.Seconds(group, b)) return false;
  }
  return true;
}

}  // namespace

std::vector<std::int32_t> IdenticalDevices(const CostedGraph& costed) {
  std::vector<std::int32_t> identical;
  for (int device = 0; device < costed.num_devices; ++device) {
    std::int32_t first = device;
    for (int earlier = 0; earlier < device && first == device; ++earlier) {
      if (identical[static_cast<std::size_t>(earlier)] == earlier && OwnsOneUnit(costed.topology, device) &&
          OwnsOneUnit(costed.topology, earlier) && LinksAlike(costed.topology, earlier, device) &&
          EquallyFast(costed, earlier, device))
        first = earlier;
    }
    identical.push_back(first);
  }
  return identical;
}

PlanSet::PlanSet(const CostedGraph& costed) : costed_(costed), identical_(IdenticalDevices(costed)) {}

bool PlanSet::Insert(const Assignment& assignment) { return seen_.insert(Digest(assignment)).second; }

std::pair<std::uint64_t, std::uint64_t> PlanSet::Digest(const Assignment& assignment) const {
  // A device that has identical ones is named by the group that it runs first: no other device runs that group.
  std::vector<std::uint64_t> names(static_cast<std::size_t>(costed_.num_devices));
  for (std::size_t d = 0; d < names.size(); ++d) names[d] = d;
  std::vector<char> named(names.size(), 0);
  const std::uint64_t devices = names.size();
  for (const int group : assignment.sequence) {
    const auto device = static_cast<std::size_t>(assignment.placement[static_cast<std::size_t>(group)]);
    if (named[device] != 0) continue;
    named[device] = 1;
    const bool interchangeable = std::count(identical_.begin(), identical_.end(), identical_[device]) > 1;
    if (interchangeable)
      names[device] =
          devices + static_cast<std::uint64_t>(group) * devices + static_cast<std::uint64_t>(identical_[device]);
  }
  std::pair<std::uint64_t, std::uint64_t> digest{0, 0};
  // The digest has the chains by group, not by unit: the groups that run right before it on its units, in ascending
  // order.
  std::vector<std::vector<std::uint64_t>> before(static_cast<std::size_t>(costed_.num_groups));
  for (const std::vector<int>& chain : UnitChains(costed_.topology, assignment)) {
    for (std::size_t i = 1; i < chain.size(); ++i)
      before[static_cast<std::size_t>(chain[i])].push_back(static_cast<std::uint64_t>(chain[i - 1]) + 1);
  }
  for (std::size_t group = 0; group < before.size(); ++group) {
    std::sort(before[group].begin(), before[group].end());
    before[group].push_back(0);
    before[group].push_back(names[static_cast<std::size_t>(assignment.placement[group])]);
    for (const std::uint64_t number : before[group]) {
      digest.first = Scattered(digest.first + number);
      digest.second = Scattered((digest.second ^ 0x5851f42d4c957f2dULL) + number);
    }
  }
  return digest;
}

}  // namespace millrace
