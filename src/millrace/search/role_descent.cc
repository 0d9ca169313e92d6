// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/role_descent.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "millrace/graph/index.h"
#include "millrace/heuristics/cluster_levels.h"
#include "millrace/heuristics/roles.h"

namespace millrace {
namespace {

constexpr int kRoleRounds = 1;       // of refinement
constexpr int kLeastRepetition = 3;  // groups of a mean role
constexpr int kPartsPerDevice = 8;
constexpr int kDevicesTried = 3;  // for each part
constexpr int kMostPasses = 2;

// Nothing where the graph hardly repeats itself.
std::optional<ClusterLevel> PartsOf(const CostedGraph& costed) {
  std::vector<std::int32_t> role_of = RolesOf(costed, kRoleRounds);
  const std::int32_t count = role_of.empty() ? 0 : *std::max_element(role_of.begin(), role_of.end()) + 1;
  if (count * kLeastRepetition > costed.num_groups) return std::nullopt;
  return std::move(MakeClusterLevels(costed, std::move(role_of), kPartsPerDevice * costed.num_devices).back());
}

// By number, the work of the groups that have it, each on its fastest device.
std::vector<double> WorkBy(const std::vector<std::int32_t>& number_of, int count, const CostedGraph& costed) {
  std::vector<double> work(Index(count), 0.0);
  for (std::size_t group = 0; group < number_of.size(); ++group)
    work[Index(number_of[group])] += costed.fastest_seconds[group];
  return work;
}

template <typename Before>
std::vector<int> InOrder(const std::vector<double>& work, Before before) {
  std::vector<int> order(work.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return before(work[Index(a)], work[Index(b)]); });
  return order;
}

// Those that have least to do.
std::vector<int> IdlestDevices(const CostedGraph& costed, const std::vector<int>& placement) {
  std::vector<int> devices = InOrder(WorkBy(placement, costed.num_devices, costed), std::less<>());
  devices.resize(Index(std::min(kDevicesTried, costed.num_devices)));
  return devices;
}

}  // namespace

double DescendByRoles(const CostedGraph& costed, double now,
                      const std::function<double(const std::vector<int>&, double)>& judge,
                      const std::function<bool()>& done, MovingPlacement& moving) {
  const std::optional<ClusterLevel> parts = PartsOf(costed);
  if (!parts) return now;
  const std::vector<int> order = InOrder(WorkBy(parts->cluster_of, parts->num_clusters(), costed), std::greater<>());
  bool helped = true;
  for (int pass = 0; pass < kMostPasses && helped; ++pass) {
    helped = false;
    for (const int part : order) {
      for (const int device : IdlestDevices(costed, moving.placement())) {
        if (done()) return now;
        if (!moving.Move({parts->Members(part), device})) continue;
        const double then = judge(moving.placement(), now);
        if (then < now) {
          now = then;
          helped = true;
        } else {
          moving.Undo();
        }
      }
    }
  }
  return now;
}

std::int64_t MostTriesOfParts(const CostedGraph& costed) {
  const std::optional<ClusterLevel> parts = PartsOf(costed);
  const std::int64_t devices = std::min<std::int64_t>(kDevicesTried, costed.num_devices);
  return parts ? parts->num_clusters() * devices : 0;
}

}  // namespace millrace
