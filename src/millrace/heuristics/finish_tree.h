// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "millrace/cost/costed_graph.h"

// Which ready group's first finish is the latest, without a look at all of them. Seconds.
namespace millrace {

// The first finish of a group is the least, over devices, of max(when its inputs arrive, when the device is free) +
// its seconds. A tree whose leaves are small sets of groups with similar seconds keeps, per node and device, the
// largest arrival + seconds and the largest seconds of the ready groups below: with the times devices are free they
// bound every first finish below from above, so most of the tree need not be looked at. The bounds are exact where a
// node's groups agree, also in floating point, since rounding is monotonic. Entering or leaving costs O(devices x log
// groups); the question does too where groups are alike up to a factor, and at worst a look at all of them.
class FinishTree {
 public:
  // `positions`: what equal finishes go by, the lower first. Both must outlive the tree.
  FinishTree(const CostedGraph& costed, const std::vector<int>& positions);

  // `arrivals`: by device, when the group's inputs can be there.
  void Insert(int group, std::span<const double> arrivals);
  void Remove(int group);
  bool empty() const { return size_ == 0; }

  // The ready group with the latest first finish. Precondition: not empty.
  int Latest(std::span<const double> device_end) const;

 private:
  struct Found {
    double finish;
    int position;
    int group = -1;
  };

  void Divide(std::size_t node, std::size_t begin, std::size_t end);
  void Refresh(std::size_t leaf);
  void Gather(std::size_t node, const double* finish_if_free, const double* seconds, int position);
  double Bound(std::size_t node, std::span<const double> device_end) const;
  void Descend(std::size_t node, double bound, std::span<const double> device_end, Found& best) const;
  void LookAtLeaf(std::size_t leaf, std::span<const double> device_end, Found& best) const;

  const CostedGraph& costed_;
  const std::vector<int>& positions_;
  std::size_t devices_;
  std::size_t leaves_ = 1;              // a power of 2; node i has children 2 i and 2 i + 1, leaf l is node leaves_ + l
  std::vector<int> groups_;             // in the order of leaves
  std::vector<std::size_t> begins_;     // by leaf, and one more: its groups are groups_[begins_[l] .. begins_[l + 1])
  std::vector<std::int32_t> leaf_of_;   // by group
  std::vector<double> arrivals_;        // by group and device, of ready groups
  std::vector<std::uint8_t> ready_;     // by group
  std::vector<double> latest_arrived_;  // by node and device: the largest arrival + seconds
  std::vector<double> longest_;         // by node and device: the largest seconds
  std::vector<int> first_position_;     // by node
  int size_ = 0;
};

}  // namespace millrace
