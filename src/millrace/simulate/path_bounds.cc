// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/path_bounds.h"

#include <algorithm>
#include <limits>
#include <span>

#include "millrace/graph/index.h"
#include "millrace/simulate/joint_arrival.h"

namespace millrace {
namespace {

constexpr double kUnreached = std::numeric_limits<double>::infinity();

// Which way the edges are followed.
enum class Way { kOn, kBack };

// The heads of all groups, or the tails: these are the heads of the reversed graph.
class Heads {
 public:
  Heads(const CostedGraph& costed, Way way, const ApartGroups& apart)
      : costed_(costed),
        apart_(apart),
        back_(way == Way::kBack),
        uniform_(LinksAlike(costed.topology)),
        alike_(uniform_ && SecondsAlike(costed)),
        head_(Index(costed.num_groups) * Index(costed.num_devices), kUnreached),
        first_(Index(costed.num_groups)) {
    if (costed.num_colocations > 0 && costed.num_groups <= kMostWithAncestors) FindAncestors();
  }

  std::vector<double> Run() {
    VisitInOrder([this](std::int32_t group) {
      if (alike_) {
        std::fill_n(head_.begin() + static_cast<std::ptrdiff_t>(At(group, 0)), costed_.num_devices, HeadOf(group, 0));
      } else {
        for (int device = 0; device < costed_.num_devices; ++device) {
          if (costed_.Seconds(group, device) != kUnreached) head_[At(group, device)] = HeadOf(group, device);
        }
      }
      if (uniform_) RankFinishes(group);
    });
    return std::move(head_);
  }

 private:
  static constexpr int kMostWithAncestors = 512;

  // Does every group take the same seconds on all devices?
  static bool SecondsAlike(const CostedGraph& costed) {
    for (int group = 0; group < costed.num_groups; ++group) {
      for (int device = 0; device < costed.num_devices; ++device) {
        if (costed.Seconds(group, device) != costed.fastest_seconds[Index(group)]) return false;
      }
    }
    return true;
  }

  std::size_t At(int group, int device) const { return Index(group) * Index(costed_.num_devices) + Index(device); }

  // Whatever is before a group comes before it.
  template <typename Visit>
  void VisitInOrder(const Visit& visit) const {
    const std::vector<std::int32_t>& order = costed_.topological_order;
    if (back_) {
      std::for_each(order.rbegin(), order.rend(), visit);
    } else {
      std::for_each(order.begin(), order.end(), visit);
    }
  }

  std::span<const GroupEdge> Before(int group) const {
    return back_ ? costed_.Successors(group) : costed_.Predecessors(group);
  }

  double Transfer(double bytes, int from, int to) const {
    return back_ ? costed_.TransferSeconds(bytes, to, from) : costed_.TransferSeconds(bytes, from, to);
  }

  double HeadOf(int group, int device) {
    joint_.Clear();
    for (const GroupEdge& edge : Before(group)) {
      const bool tied = costed_.colocation[Index(group)] >= 0 &&
                        costed_.colocation[Index(group)] == costed_.colocation[Index(edge.group)];
      joint_.Add({head_[At(edge.group, device)],
                  Apart(group, edge.group) ? kUnreached : costed_.Seconds(edge.group, device),
                  tied ? kUnreached : RemoteArrival(edge, device)});
    }
    return std::max(joint_.Earliest(), AfterColocated(group, device));
  }

  bool Apart(int a, int b) const {
    return !apart_.empty() && apart_[Index(a) * Index(costed_.num_groups) + Index(b)] != 0;
  }

  void FindAncestors() {
    ancestors_.resize(Index(costed_.num_groups));
    std::vector<char> is_ancestor(ancestors_.size());
    VisitInOrder([&](std::int32_t group) {
      std::fill(is_ancestor.begin(), is_ancestor.end(), 0);
      // All of them pass through here, colocated or not; only the colocated ones are kept.
      Mark(group, is_ancestor);
      if (costed_.colocation[Index(group)] < 0) return;
      for (int other = 0; other < costed_.num_groups; ++other) {
        if (is_ancestor[Index(other)] != 0 && costed_.colocation[Index(other)] == costed_.colocation[Index(group)])
          ancestors_[Index(group)].push_back(other);
      }
    });
  }

  void Mark(int group, std::vector<char>& is_ancestor) {
    for (const GroupEdge& edge : Before(group)) {
      if (is_ancestor[Index(edge.group)] != 0) continue;
      is_ancestor[Index(edge.group)] = 1;
      Mark(edge.group, is_ancestor);
    }
  }

  // When its colocated ancestors can have run on the device, one after the other.
  double AfterColocated(int group, int device) {
    if (ancestors_.empty() || ancestors_[Index(group)].empty()) return 0;
    by_head_ = ancestors_[Index(group)];
    std::sort(by_head_.begin(), by_head_.end(),
              [&](int a, int b) { return head_[At(a, device)] < head_[At(b, device)]; });
    double free = 0;
    for (const int ancestor : by_head_)
      free = std::max(free, head_[At(ancestor, device)]) + costed_.Seconds(ancestor, device);
    return free;
  }

  double RemoteArrival(const GroupEdge& edge, int to) const {
    if (costed_.num_devices == 1) return kUnreached;
    if (uniform_) {
      return first_[Index(edge.group)].Elsewhere(to) + Transfer(edge.bytes, 0, 1);
    }
    double arrival = kUnreached;
    for (int from = 0; from < costed_.num_devices; ++from) {
      if (from != to)
        arrival = std::min(
            arrival, head_[At(edge.group, from)] + costed_.Seconds(edge.group, from) + Transfer(edge.bytes, from, to));
    }
    return arrival;
  }

  void RankFinishes(int group) {
    for (int device = 0; device < costed_.num_devices; ++device)
      first_[Index(group)].Add(head_[At(group, device)] + costed_.Seconds(group, device), device);
  }

  const CostedGraph& costed_;
  const ApartGroups& apart_;
  bool back_;
  bool uniform_;
  bool alike_;  // then the head of a group is the same on all devices
  std::vector<double> head_;
  std::vector<EarliestFinishes> first_;  // by group, where all transfers cost the same
  JointArrival joint_;
  std::vector<std::vector<int>> ancestors_;  // by group: those colocated with it; empty: not looked for
  std::vector<int> by_head_;
};

}  // namespace

bool LinksAlike(const Topology& topology) {
  for (int a = 0; a < topology.num_devices; ++a) {
    for (int b = 0; b < topology.num_devices; ++b) {
      const std::size_t pair = topology.Pair(a, b);
      if (a != b && (topology.latency[pair] != topology.latency[topology.Pair(0, 1)] ||
                     topology.seconds_per_byte[pair] != topology.seconds_per_byte[topology.Pair(0, 1)]))
        return false;
    }
  }
  return true;
}

PathBounds MakePathBounds(const CostedGraph& costed, const ApartGroups& apart) {
  PathBounds bounds;
  bounds.head = Heads(costed, Way::kOn, apart).Run();
  bounds.tail = Heads(costed, Way::kBack, apart).Run();
  const auto devices = Index(costed.num_devices);
  for (std::size_t group = 0; group < Index(costed.num_groups); ++group) {
    double least = kUnreached;
    for (std::size_t at = group * devices; at < (group + 1) * devices; ++at)
      least = std::min(least, bounds.head[at] + costed.seconds[at] + bounds.tail[at]);
    bounds.longest = std::max(bounds.longest, least);
  }
  return bounds;
}

Topology TopologyForAnyTimeline(const Topology& topology) {
  Topology any = topology;
  for (int from = 0; from < topology.num_devices; ++from) {
    for (int to = 0; to < topology.num_devices; ++to) {
      const std::size_t pair = topology.Pair(from, to);
      if (topology.free[pair] != 0) continue;
      for (int reader = 0; reader < topology.num_devices; ++reader) {
        const std::size_t carried = topology.Pair(from, reader);
        if (topology.memory_of[Index(reader)] != topology.memory_of[Index(to)] || topology.free[carried] != 0) continue;
        any.latency[pair] = std::min(any.latency[pair], topology.latency[carried]);
        any.seconds_per_byte[pair] = std::min(any.seconds_per_byte[pair], topology.seconds_per_byte[carried]);
      }
    }
  }
  return any;
}

}  // namespace millrace
