// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "millrace/cost/costed_graph.h"

// Where the colocations of a plan under construction are settled, and what devices owe to them. Seconds.
namespace millrace {

// A colocation is open until its first group is placed. From then on the device owes the seconds of its other groups
// until these are placed, too. Only the constructor allocates.
class ColocationLedger {
 public:
  explicit ColocationLedger(const CostedGraph& costed);  // which must outlive the ledger

  void Clear();

  // A group without a colocation counts as settled.
  bool Settled(int group) const { return ColocationOf(group) < 0 || DeviceOf(ColocationOf(group)) >= 0; }

  // Whether the group's colocation is there or open.
  bool Allows(int group, int device) const {
    if (ColocationOf(group) < 0) return true;
    const std::int32_t settled = DeviceOf(ColocationOf(group));
    return settled < 0 || settled == device;
  }

  // Seconds that the other groups of the group's open colocation would take on the device; 0 once it is settled. A
  // choice for one member binds them all, so it should count what they cost.
  double Rest(int group, int device) const { return Settled(group) ? 0 : RestOfOpen(group, device); }

  // The same with what the device owes to the colocations settled there. The first micro-batch that runs through a
  // pipeline finds every device idle, though the stages it has passed will keep theirs busy.
  double Bound(int group, int device) const { return Settled(group) ? 0 : Owed(device) + RestOfOpen(group, device); }

  // Precondition: Allows.
  void Place(int group, int device);

 private:
  std::int32_t ColocationOf(int group) const { return costed_->colocation[static_cast<std::size_t>(group)]; }
  std::int32_t DeviceOf(std::int32_t colocation) const { return device_[static_cast<std::size_t>(colocation)]; }
  double RestOfOpen(int group, int device) const;
  double Owed(int device) const;  // the most that any of its units owes

  const CostedGraph* costed_;
  std::vector<double> seconds_;       // by colocation and device, over all members
  std::vector<std::int32_t> device_;  // by colocation; -1: open
  std::vector<double> owed_;          // by unit
};

}  // namespace millrace
