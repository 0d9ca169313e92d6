// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

// When all that a group reads can be on its device, where some of its predecessors may run on that device before it and
// the others send from elsewhere. Seconds.
namespace millrace {

// The two earliest finishes of a group on different devices, and the device of the first.
struct EarliestFinishes {
  double least = std::numeric_limits<double>::infinity();
  double next = std::numeric_limits<double>::infinity();
  int device = -1;

  // Of one more device.
  void Add(double finish, int on) {
    if (finish < least) {
      next = least;
      least = finish;
      device = on;
    } else {
      next = std::min(next, finish);
    }
  }

  // On any device but this one.
  double Elsewhere(int from) const { return device == from ? next : least; }
};

// What is known of one predecessor.
struct Feeder {
  double head = 0;     // it starts no earlier on the group's device
  double seconds = 0;  // it takes there; infinity: cannot run there
  double remote = 0;   // its data arrive no earlier from any other device; infinity: it must share the device
};

// Collects the predecessors of one group on one device. Those whose data would arrive late from elsewhere must share
// the device, and there they run one after the other: the earliest time is the least, over the times T, for which all
// that arrive after T from elsewhere can have run on the device by T. Keeps the latest kMost of them; the others count
// one by one, which is still true and only weaker.
class JointArrival {
 public:
  void Clear() {
    size_ = 0;
    single_ = 0;
  }

  void Add(const Feeder& feeder) {
    single_ = std::max(single_, std::min(feeder.head + feeder.seconds, feeder.remote));
    if (size_ == kMost && feeder.remote <= feeders_[kMost - 1].remote) return;
    std::size_t at = size_ < kMost ? size_++ : kMost - 1;
    for (; at > 0 && feeders_[at - 1].remote < feeder.remote; --at) feeders_[at] = feeders_[at - 1];
    feeders_[at] = feeder;
  }

  double Earliest() const {
    if (size_ <= 1) return single_;
    double least = feeders_[0].remote;  // nobody shares the device
    std::array<std::size_t, kMost> by_head;
    for (std::size_t shared = 1; shared <= size_; ++shared) {
      const Feeder& added = feeders_[shared - 1];
      if (added.seconds == std::numeric_limits<double>::infinity()) break;
      std::size_t at = shared - 1;
      for (; at > 0 && feeders_[by_head[at - 1]].head > added.head; --at) by_head[at] = by_head[at - 1];
      by_head[at] = shared - 1;
      double free = 0;
      for (std::size_t i = 0; i < shared; ++i) {
        const Feeder& feeder = feeders_[by_head[i]];
        free = std::max(free, feeder.head) + feeder.seconds;
      }
      if (free >= least) break;
      least = shared < size_ ? std::min(least, std::max(free, feeders_[shared].remote)) : free;
    }
    return std::max(least, single_);
  }

 private:
  static constexpr std::size_t kMost = 8;

  std::array<Feeder, kMost> feeders_;  // descending by remote
  std::size_t size_ = 0;
  double single_ = 0;  // the latest of them, each by itself
};

}  // namespace millrace
