// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <vector>

#include "millrace/cost/costed_graph.h"

// What is known of a problem before anything is placed, by the plainest formulas: from the costed graph alone, nothing
// kept from one call to the next. Tests hold features against it. Seconds.
namespace millrace::testing {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

inline std::size_t Index(int number) { return static_cast<std::size_t>(number); }

// As features are squashed: x near 0, its square root far away.
inline float Squashed(double x) { return static_cast<float>(x / std::sqrt(1 + std::abs(x))); }

struct PlainProblem {
  explicit PlainProblem(const CostedGraph& graph) : costed(graph) {
    double pairs = 0;
    for (int a = 0; a < costed.num_devices; ++a) {
      for (int b = 0; b < costed.num_devices; ++b) {
        if (ShareUnit(a, b)) continue;
        pairs += 1;
        latency += costed.TransferSeconds(0, a, b);
        per_byte += costed.TransferSeconds(1, a, b) - costed.TransferSeconds(0, a, b);
      }
    }
    if (pairs > 0) latency /= pairs, per_byte /= pairs;
    double all = 0;
    for (int group = 0; group < costed.num_groups; ++group) all += Mean(group);
    scale = all > 0 ? all / costed.num_groups : 1;
  }

  std::set<int> UnitsOf(int device) const {
    const auto units = costed.topology.device_units.begin();
    return {units + costed.topology.device_offsets[Index(device)],
            units + costed.topology.device_offsets[Index(device) + 1]};
  }
  bool ShareUnit(int a, int b) const {
    const std::set<int> of_b = UnitsOf(b);
    for (const int unit : UnitsOf(a)) {
      if (of_b.count(unit) > 0) return true;
    }
    return false;
  }

  double Transfer(double bytes) const { return latency + bytes * per_byte; }

  double Mean(int group) const {
    double sum = 0, devices = 0;
    for (int d = 0; d < costed.num_devices; ++d) {
      if (std::isfinite(costed.Seconds(group, d))) sum += costed.Seconds(group, d), devices += 1;
    }
    return sum / devices;
  }

  double Rank(int group) const {
    double longest = 0;
    for (const GroupEdge& edge : costed.Successors(group))
      longest = std::max(longest, Transfer(edge.bytes) + Rank(edge.group));
    return Mean(group) + longest;
  }

  // What must follow the group if it runs on the device.
  double Onward(int group, int device) const {
    double longest = 0;
    for (const GroupEdge& edge : costed.Successors(group)) {
      double least = kNever;
      for (int d = 0; d < costed.num_devices; ++d) {
        least = std::min(
            least, Onward(edge.group, d) + costed.Seconds(edge.group, d) + (d == device ? 0 : Transfer(edge.bytes)));
      }
      longest = std::max(longest, least);
    }
    return longest;
  }

  double EdgeWeight(double bytes) const { return Transfer(bytes) + scale / 1000; }

  // The four successors of the highest rank. `rank_positions` says which of equal ones comes first.
  std::vector<GroupEdge> KeyChildren(int group, std::span<const std::int32_t> rank_positions) const {
    std::vector<GroupEdge> children(costed.Successors(group).begin(), costed.Successors(group).end());
    std::sort(children.begin(), children.end(), [&](const GroupEdge& a, const GroupEdge& b) {
      return rank_positions[Index(a.group)] < rank_positions[Index(b.group)];
    });
    children.resize(std::min<std::size_t>(children.size(), 4));
    return children;
  }

  const CostedGraph& costed;
  double latency = 0, per_byte = 0, scale = 1;
};

}  // namespace millrace::testing
