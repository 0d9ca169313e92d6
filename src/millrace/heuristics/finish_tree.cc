// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/finish_tree.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace millrace {
namespace {

constexpr std::size_t kLeafGroups = 8;
constexpr double kNothing = -std::numeric_limits<double>::infinity();
constexpr int kNowhere = std::numeric_limits<int>::max();

}  // namespace

FinishTree::FinishTree(const CostedGraph& costed, const std::vector<int>& positions)
    : costed_(costed),
      positions_(positions),
      devices_(static_cast<std::size_t>(costed.num_devices)),
      groups_(static_cast<std::size_t>(costed.num_groups)),
      leaf_of_(groups_.size()),
      arrivals_(groups_.size() * devices_),
      ready_(groups_.size(), 0) {
  while (leaves_ * kLeafGroups < groups_.size()) leaves_ *= 2;
  std::iota(groups_.begin(), groups_.end(), 0);
  begins_.assign(leaves_ + 1, groups_.size());
  Divide(1, 0, groups_.size());
  for (std::size_t leaf = 0; leaf < leaves_; ++leaf) {
    for (std::size_t i = begins_[leaf]; i < begins_[leaf + 1]; ++i)
      leaf_of_[static_cast<std::size_t>(groups_[i])] = static_cast<std::int32_t>(leaf);
  }
  latest_arrived_.assign(2 * leaves_ * devices_, kNothing);
  longest_.assign(2 * leaves_ * devices_, kNothing);
  first_position_.assign(2 * leaves_, kNowhere);
}

// Halves the groups by their seconds on the device where those differ most.
void FinishTree::Divide(std::size_t node, std::size_t begin, std::size_t end) {
  if (node >= leaves_) {
    begins_[node - leaves_] = begin;
    return;
  }
  std::size_t widest = 0;
  double width = -1;
  for (std::size_t device = 0; device < devices_ && begin < end; ++device) {
    double least = std::numeric_limits<double>::infinity();
    double most = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const double seconds = costed_.Seconds(groups_[i], static_cast<int>(device));
      least = std::min(least, seconds);
      most = std::max(most, seconds);
    }
    if (!(least < most) || most - least <= width) continue;
    width = most - least;
    widest = device;
  }
  const std::size_t middle = begin + (end - begin) / 2;
  const auto at = [this](std::size_t i) { return groups_.begin() + static_cast<std::ptrdiff_t>(i); };
  const auto earlier = [&](int a, int b) {
    const double left = costed_.Seconds(a, static_cast<int>(widest));
    const double right = costed_.Seconds(b, static_cast<int>(widest));
    if (left != right) return left < right;
    return positions_[static_cast<std::size_t>(a)] < positions_[static_cast<std::size_t>(b)];
  };
  if (middle < end) std::nth_element(at(begin), at(middle), at(end), earlier);
  Divide(2 * node, begin, middle);
  Divide(2 * node + 1, middle, end);
}

void FinishTree::Gather(std::size_t node, const double* finish_if_free, const double* seconds, int position) {
  double* const arrived = latest_arrived_.data() + node * devices_;
  double* const longest = longest_.data() + node * devices_;
  for (std::size_t d = 0; d < devices_; ++d) {
    arrived[d] = std::max(arrived[d], finish_if_free[d]);
    longest[d] = std::max(longest[d], seconds[d]);
  }
  first_position_[node] = std::min(first_position_[node], position);
}

// Works out the leaf and the nodes above it anew.
void FinishTree::Refresh(std::size_t leaf) {
  const auto clear = [this](std::size_t node) {
    std::fill_n(latest_arrived_.data() + node * devices_, devices_, kNothing);
    std::fill_n(longest_.data() + node * devices_, devices_, kNothing);
    first_position_[node] = kNowhere;
  };
  std::size_t node = leaves_ + leaf;
  clear(node);
  std::vector<double> finishes(devices_);
  for (std::size_t i = begins_[leaf]; i < begins_[leaf + 1]; ++i) {
    const auto group = static_cast<std::size_t>(groups_[i]);
    if (ready_[group] == 0) continue;
    const double* const seconds = costed_.seconds.data() + group * devices_;
    for (std::size_t d = 0; d < devices_; ++d) finishes[d] = arrivals_[group * devices_ + d] + seconds[d];
    Gather(node, finishes.data(), seconds, positions_[group]);
  }
  for (node /= 2; node >= 1; node /= 2) {
    clear(node);
    for (std::size_t child = 2 * node; child <= 2 * node + 1; ++child)
      Gather(node, latest_arrived_.data() + child * devices_, longest_.data() + child * devices_,
             first_position_[child]);
  }
}

void FinishTree::Insert(int group, std::span<const double> arrivals) {
  const auto g = static_cast<std::size_t>(group);
  ready_[g] = 1;
  ++size_;
  std::copy(arrivals.begin(), arrivals.end(), arrivals_.begin() + static_cast<std::ptrdiff_t>(g * devices_));
  Refresh(static_cast<std::size_t>(leaf_of_[g]));
}

void FinishTree::Remove(int group) {
  const auto g = static_cast<std::size_t>(group);
  ready_[g] = 0;
  --size_;
  Refresh(static_cast<std::size_t>(leaf_of_[g]));
}

double FinishTree::Bound(std::size_t node, std::span<const double> device_end) const {
  double bound = std::numeric_limits<double>::infinity();
  for (std::size_t d = 0; d < devices_; ++d) {
    const std::size_t at = node * devices_ + d;
    bound = std::min(bound, std::max(latest_arrived_[at], device_end[d] + longest_[at]));
  }
  return bound;
}

void FinishTree::LookAtLeaf(std::size_t leaf, std::span<const double> device_end, Found& best) const {
  for (std::size_t i = begins_[leaf]; i < begins_[leaf + 1]; ++i) {
    const auto group = static_cast<std::size_t>(groups_[i]);
    if (ready_[group] == 0) continue;
    double first = std::numeric_limits<double>::infinity();
    for (std::size_t d = 0; d < devices_; ++d) {
      const double start = std::max(arrivals_[group * devices_ + d], device_end[d]);
      first = std::min(first, start + costed_.seconds[group * devices_ + d]);
    }
    const int position = positions_[group];
    if (first > best.finish || (first == best.finish && position < best.position)) best = {first, position, groups_[i]};
  }
}

void FinishTree::Descend(std::size_t node, double bound, std::span<const double> device_end, Found& best) const {
  if (bound < best.finish || (bound == best.finish && first_position_[node] >= best.position)) return;
  if (node >= leaves_) return LookAtLeaf(node - leaves_, device_end, best);
  const std::size_t left = 2 * node;
  const std::size_t right = left + 1;
  const double left_bound = Bound(left, device_end);
  const double right_bound = Bound(right, device_end);
  const bool right_first =
      right_bound > left_bound || (right_bound == left_bound && first_position_[right] < first_position_[left]);
  Descend(right_first ? right : left, right_first ? right_bound : left_bound, device_end, best);
  Descend(right_first ? left : right, right_first ? left_bound : right_bound, device_end, best);
}

int FinishTree::Latest(std::span<const double> device_end) const {
  Found best{kNothing, kNowhere, -1};
  Descend(1, Bound(1, device_end), device_end, best);
  return best.group;
}

}  // namespace millrace
