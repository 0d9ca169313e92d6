// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/upward_rank.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace millrace {
namespace {

// Reduces each group's finite seconds, ascending, to one number.
template <typename Reduce>
std::vector<double> SecondsBy(const CostedGraph& costed, Reduce reduce) {
  std::vector<double> result;
  result.reserve(static_cast<std::size_t>(costed.num_groups));
  std::vector<double> finite;
  for (int group = 0; group < costed.num_groups; ++group) {
    finite.clear();
    for (int device = 0; device < costed.num_devices; ++device) {
      const double seconds = costed.Seconds(group, device);
      if (std::isfinite(seconds)) finite.push_back(seconds);
    }
    std::sort(finite.begin(), finite.end());
    result.push_back(reduce(finite));
  }
  return result;
}

bool ShareUnit(const Topology& topology, int a, int b) {
  const auto units = [&topology](int device) {
    const auto begin = topology.device_units.begin();
    return std::pair(begin + topology.device_offsets[static_cast<std::size_t>(device)],
                     begin + topology.device_offsets[static_cast<std::size_t>(device) + 1]);
  };
  const auto [a_begin, a_end] = units(a);
  const auto [b_begin, b_end] = units(b);
  return std::find_first_of(a_begin, a_end, b_begin, b_end) != a_end;
}

}  // namespace

MeanTransfer MeanTransferOf(const Topology& topology) {
  MeanTransfer sum;
  double pairs = 0;
  for (int from = 0; from < topology.num_devices; ++from) {
    for (int to = 0; to < topology.num_devices; ++to) {
      if (ShareUnit(topology, from, to)) continue;
      const std::size_t pair = topology.Pair(from, to);
      sum.latency += topology.latency[pair];
      sum.seconds_per_byte += topology.seconds_per_byte[pair];
      pairs += 1;
    }
  }
  return pairs > 0 ? MeanTransfer{sum.latency / pairs, sum.seconds_per_byte / pairs} : MeanTransfer{};
}

std::vector<double> MeanSeconds(const CostedGraph& costed) {
  return SecondsBy(costed, [](const std::vector<double>& finite) {
    double sum = 0;
    for (const double seconds : finite) sum += seconds;
    return sum / static_cast<double>(finite.size());
  });
}

std::vector<double> MedianSeconds(const CostedGraph& costed) {
  return SecondsBy(costed, [](const std::vector<double>& finite) {
    const std::size_t middle = finite.size() / 2;
    return finite.size() % 2 == 1 ? finite[middle] : (finite[middle - 1] + finite[middle]) / 2;
  });
}

double CommunicationRatio(const CostedGraph& costed) {
  if (costed.successors.empty()) return 0;
  const MeanTransfer transfer = MeanTransferOf(costed.topology);
  double transfers = 0;
  for (const GroupEdge& edge : costed.successors) transfers += transfer.Seconds(edge.bytes);
  double groups = 0;
  for (const double seconds : MeanSeconds(costed)) groups += seconds;
  const double ratio = transfers / static_cast<double>(costed.successors.size()) * costed.num_groups / groups;
  return ratio > 0 ? ratio : 0;
}

std::vector<double> UpwardRanks(const CostedGraph& costed, const std::vector<double>& seconds,
                                const MeanTransfer& transfer) {
  std::vector<double> ranks(static_cast<std::size_t>(costed.num_groups), 0.0);
  for (auto group = costed.topological_order.rbegin(); group != costed.topological_order.rend(); ++group) {
    double longest = 0;
    for (const GroupEdge& edge : costed.Successors(*group))
      longest = std::max(longest, transfer.Seconds(edge.bytes) + ranks[static_cast<std::size_t>(edge.group)]);
    ranks[static_cast<std::size_t>(*group)] = seconds[static_cast<std::size_t>(*group)] + longest;
  }
  return ranks;
}

std::vector<double> DownwardRanks(const CostedGraph& costed, const std::vector<double>& seconds,
                                  const MeanTransfer& transfer) {
  std::vector<double> ranks(static_cast<std::size_t>(costed.num_groups), 0.0);
  for (const std::int32_t group : costed.topological_order) {
    double& rank = ranks[static_cast<std::size_t>(group)];
    for (const GroupEdge& edge : costed.Predecessors(group)) {
      const auto from = static_cast<std::size_t>(edge.group);
      rank = std::max(rank, ranks[from] + seconds[from] + transfer.Seconds(edge.bytes));
    }
  }
  return ranks;
}

std::vector<int> TopologicalPositions(const CostedGraph& costed) {
  std::vector<int> positions(static_cast<std::size_t>(costed.num_groups));
  int next = 0;
  for (const std::int32_t group : costed.topological_order) positions[static_cast<std::size_t>(group)] = next++;
  return positions;
}

std::vector<int> ByDecreasingRank(const CostedGraph& costed, const std::vector<double>& ranks) {
  std::vector<int> order(costed.topological_order.begin(), costed.topological_order.end());
  std::stable_sort(order.begin(), order.end(), [&ranks](int a, int b) {
    return ranks[static_cast<std::size_t>(a)] > ranks[static_cast<std::size_t>(b)];
  });
  return order;
}

}  // namespace millrace
