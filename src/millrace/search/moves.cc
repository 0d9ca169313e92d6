// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/moves.h"

#include <algorithm>
#include <span>

#include "millrace/heuristics/upward_rank.h"

namespace millrace {
namespace {

constexpr int kLongestStretch = 12;
constexpr int kLongestJump = 3;

// Uneven by less than one part in a million, and without a division.
int Below(Random& random, int bound) {
  return static_cast<int>(((random.Next() >> 32) * static_cast<std::uint64_t>(bound)) >> 32);
}

int DrawLength(Random& random) { return 2 + Below(random, kLongestStretch - 1); }

}  // namespace

template <typename Live>
Moves<Live>::Moves(Live& plan, const MoveMix& mix)
    : plan_(plan),
      mix_(mix),
      total_(mix.sequence + mix.jump + mix.place + mix.join + mix.stretch + mix.path + mix.cluster + mix.swap +
             (plan.costed().num_colocations > 0 ? mix.twins : 0)),
      twins_(plan.costed()) {
  const MeanTransfer transfer = MeanTransferOf(plan.costed().topology);
  transfer_latency_ = transfer.Seconds(0);
  transfer_seconds_per_byte_ = transfer.Seconds(1) - transfer_latency_;
  mean_seconds_ = MeanSeconds(plan.costed());
  in_cluster_.assign(static_cast<std::size_t>(plan.costed().num_groups), 0);
  critical_.reserve(static_cast<std::size_t>(plan.costed().num_groups));
}

template <typename Live>
void Moves<Live>::Refresh() {
  plan_.FindCritical();
  critical_.clear();
  for (int group = 0; group < plan_.costed().num_groups; ++group) {
    if (plan_.Critical(group)) critical_.push_back(group);
  }
}

template <typename Live>
int Moves<Live>::DrawGroup(Random& random) const {
  constexpr int kTries = 4;
  if (!critical_.empty() && random.Uniform() < mix_.critical) {
    for (int i = 0; i < kTries; ++i) {
      const int group = critical_[static_cast<std::size_t>(Below(random, static_cast<int>(critical_.size())))];
      if (plan_.Critical(group)) return group;
    }
  }
  return Below(random, plan_.costed().num_groups);
}

template <typename Live>
int Moves<Live>::DrawDevice(Random& random) const {
  return Below(random, plan_.costed().num_devices);
}

template <typename Live>
int Moves<Live>::DrawNeighbour(int group, Random& random) const {
  const auto before = plan_.costed().Predecessors(group);
  const auto after = plan_.costed().Successors(group);
  if (before.size() + after.size() == 0) return group;
  const std::size_t drawn = random.Below(before.size() + after.size());
  return drawn < before.size() ? before[drawn].group : after[drawn - before.size()].group;
}

template <typename Live>
void Moves<Live>::Draw(Random& random) {
  const int group = DrawGroup(random);
  int kind = Below(random, total_);
  const auto is = [&kind](int weight) { return (kind -= weight) < 0; };
  if (plan_.costed().num_devices == 1 || is(mix_.sequence)) {
    MoveInSequence(group, random);
  } else if (is(mix_.jump)) {
    Jump(group, random);
  } else if (is(mix_.place)) {
    plan_.Place(group, DrawDevice(random));
  } else if (is(mix_.join)) {
    plan_.Place(group, plan_.Device(DrawNeighbour(group, random)));
    MoveInSequence(group, random);
  } else if (is(mix_.stretch)) {
    PlaceStretch(group, random);
  } else if (is(mix_.path)) {
    PlacePath(group, random);
  } else if (is(mix_.cluster)) {
    PlaceCluster(group, random);
  } else if (is(mix_.swap)) {
    Swap(group, random);
  } else {
    SwapTwins(group, random);
  }
}

// Grows like a cluster of Wolff's algorithm: an edge is followed the more often the dearer its transfer is.
template <typename Live>
void Moves<Live>::PlaceCluster(int group, Random& random) {
  const CostedGraph& costed = plan_.costed();
  const int from = plan_.Device(group);
  // At most 2, 4, 8 ... groups, up to a quarter of all; each of these as often.
  int scales = 1;
  while ((4 << scales) < costed.num_groups) ++scales;
  const std::size_t most = std::size_t{2} << Below(random, scales);
  cluster_.assign(1, group);
  in_cluster_[static_cast<std::size_t>(group)] = 1;
  int device = -1;
  for (std::size_t i = 0; i < cluster_.size() && cluster_.size() < most; ++i) {
    const auto follow = [&](const GroupEdge& edge) {
      if (plan_.Device(edge.group) != from) {
        if (device < 0 || random.Below(4) == 0) device = plan_.Device(edge.group);
        return;
      }
      if (in_cluster_[static_cast<std::size_t>(edge.group)] != 0 || cluster_.size() >= most) return;
      const double transfer = transfer_latency_ + edge.bytes * transfer_seconds_per_byte_;
      if (random.Uniform() * (transfer + mean_seconds_[static_cast<std::size_t>(edge.group)]) >= transfer) return;
      in_cluster_[static_cast<std::size_t>(edge.group)] = 1;
      cluster_.push_back(edge.group);
    };
    for (const GroupEdge& edge : costed.Predecessors(cluster_[i])) follow(edge);
    for (const GroupEdge& edge : costed.Successors(cluster_[i])) follow(edge);
  }
  if (device < 0 || random.Below(2) == 0) device = DrawDevice(random);
  for (const int member : cluster_) {
    in_cluster_[static_cast<std::size_t>(member)] = 0;
    plan_.Place(member, device);
  }
}

template <typename Live>
void Moves<Live>::Swap(int group, Random& random) {
  const int reach = mix_.reach > 0 ? mix_.reach : 16;
  const int at = plan_.Position(group);
  const int low = std::max(0, at - reach), high = std::min(plan_.costed().num_groups - 1, at + reach);
  const int drawn = low + Below(random, high - low + 1);
  const int other = plan_.assignment().sequence[static_cast<std::size_t>(drawn)];
  const int here = plan_.Device(group), there = plan_.Device(other);
  if (here == there) return;
  plan_.Place(group, there);
  plan_.Place(other, here);
}

// Which micro-batch goes before which is a choice that no group can make alone.
template <typename Live>
void Moves<Live>::SwapTwins(int group, Random& random) {
  const std::span<const int> colocated = plan_.Colocated(group);
  if (colocated.empty()) return;
  const int other = colocated[static_cast<std::size_t>(Below(random, static_cast<int>(colocated.size())))];
  if (other == group) return;
  twins_.Match(group, other);
  const std::span<const int> matched = twins_.matched();
  const auto in_order = [this](int one) { return StaysInOrder(one) && StaysInOrder(twins_.TwinOf(one)); };
  if (TwinsDiffer() && std::all_of(matched.begin(), matched.end(), in_order)) {
    for (const int one : matched) {
      const bool first = plan_.Position(one) < plan_.Position(twins_.TwinOf(one));
      const int early = first ? one : twins_.TwinOf(one);
      const int late = first ? twins_.TwinOf(one) : one;
      const int from = plan_.Position(early);
      plan_.Move(early, plan_.Position(late));
      plan_.Move(late, from);
    }
  }
  twins_.Forget();
}

// Where they take the same time, nothing is gained.
template <typename Live>
bool Moves<Live>::TwinsDiffer() const {
  const std::span<const int> matched = twins_.matched();
  return std::any_of(matched.begin(), matched.end(), [this](int one) {
    const int device = plan_.Device(one);
    return plan_.costed().Seconds(one, device) != plan_.costed().Seconds(twins_.TwinOf(one), device);
  });
}

// If all twins exchange their places.
template <typename Live>
bool Moves<Live>::StaysInOrder(int group) const {
  const auto position = [this](int of) { return plan_.Position(twins_.TwinOf(of) < 0 ? of : twins_.TwinOf(of)); };
  const int at = position(group);
  const auto before = plan_.costed().Predecessors(group);
  const auto after = plan_.costed().Successors(group);
  return std::all_of(before.begin(), before.end(), [&](const GroupEdge& edge) { return position(edge.group) < at; }) &&
         std::all_of(after.begin(), after.end(), [&](const GroupEdge& edge) { return position(edge.group) > at; });
}

template <typename Live>
void Moves<Live>::MoveInSequence(int group, Random& random) {
  auto [low, high] = plan_.Room(group);
  if (low >= high) return;
  if (mix_.reach > 0 && random.Below(2) == 0) {
    low = std::max(low, plan_.Position(group) - mix_.reach);
    high = std::min(high, plan_.Position(group) + mix_.reach);
  }
  plan_.Move(group, low + Below(random, high - low + 1));
}

template <typename Live>
void Moves<Live>::Jump(int group, Random& random) {
  const bool forward = Below(random, 2) == 0;
  int over = group;
  for (int left = 1 + Below(random, kLongestJump); left > 0; --left) {
    const int next = forward ? plan_.NextOnUnit(over) : plan_.PreviousOnUnit(over);
    if (next < 0) break;
    over = next;
  }
  const auto [low, high] = plan_.Room(group);
  plan_.Move(group, std::clamp(plan_.Position(over), low, high));
}

template <typename Live>
void Moves<Live>::PlaceStretch(int group, Random& random) {
  const int first = plan_.Position(group);
  const int last = std::min(plan_.costed().num_groups, first + DrawLength(random));
  const int device = DrawDevice(random);
  for (int i = first; i < last; ++i) plan_.Place(plan_.assignment().sequence[static_cast<std::size_t>(i)], device);
}

template <typename Live>
void Moves<Live>::PlacePath(int group, Random& random) {
  const int device = DrawDevice(random);
  for (int left = DrawLength(random); left > 0; --left) {
    plan_.Place(group, device);
    const auto next = plan_.costed().Successors(group);
    if (next.empty()) return;
    group = next[random.Below(next.size())].group;
  }
}

template class Moves<LivePlan>;
template class Moves<ContendedLivePlan>;

}  // namespace millrace
