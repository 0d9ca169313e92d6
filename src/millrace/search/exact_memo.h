// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "millrace/search/growing_schedule.h"

// The states an exact search has been in: one is given up where an earlier one has the same groups scheduled and leaves
// every other group at least as free. Seconds.
namespace millrace {

// A state as it is kept: the makespan so far; when each device is free; for each group whose data are still to be read,
// its finish and device; for each colocation still open to others, its device. The groups of a set are the same for all
// its states, so only the numbers are kept.
struct MemoState {
  std::vector<double> times;          // makespan, devices, then groups
  std::vector<std::uint8_t> devices;  // groups, then colocations
};

// What an earlier state must keep to so that whatever goes on from this one could go on from that one, too.
struct MemoLimits {
  std::vector<double> latest_free;    // the makespan, then by device
  std::vector<double> latest_finish;  // by place in MemoState::devices x devices: were it on that device
};

// Of bounded size: full, it forgets everything. One search owns one.
class ExactMemo {
 public:
  explicit ExactMemo(std::size_t most_bytes) : most_bytes_(most_bytes) { Forget(); }

  // Is one of the states kept for this set within the limits?
  bool Dominated(const GroupSet& set, const MemoLimits& limits, std::size_t devices) const;

  void Keep(const GroupSet& set, const MemoState& state);

  void Forget();

 private:
  struct Slot {
    GroupSet set;
    std::int32_t newest = -1;
    std::int32_t num_times = 0;
    std::int32_t num_devices = 0;
  };
  struct Entry {
    std::int32_t older = -1;
    std::uint32_t times = 0;  // place of its first number
    std::uint32_t devices = 0;
  };

  static std::size_t HashOf(const GroupSet& set);
  const Slot* Find(const GroupSet& set) const;
  void Grow();

  std::size_t most_bytes_;
  std::vector<Slot> slots_;  // open addressing, a power of two of them
  std::size_t sets_ = 0;
  std::vector<Entry> entries_;
  std::vector<double> times_;
  std::vector<std::uint8_t> devices_;
};

}  // namespace millrace
