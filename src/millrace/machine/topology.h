// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "millrace/machine/machine.h"
#include "millrace/machine/proxy.h"

// A machine boiled down to the flat tables that simulation reads in its inner loop.
namespace millrace {

struct Topology {
  int num_devices = 0;
  int num_units = 0;     // distinct units
  int num_memories = 0;  // distinct memories
  Proxy proxy = Proxy::kLinear;
  Sharing sharing = Sharing::kOneAtATime;  // of channels under contention

  // Units of device d, renumbered 0..num_units-1 in ascending order of their ids: device_units[device_offsets[d]..].
  std::vector<std::int32_t> device_offsets;
  std::vector<std::int32_t> device_units;

  // Memory each device uses: devices that share a unit, also through a third, have one.
  std::vector<std::int32_t> memory_of;
  std::vector<double> memory_bytes;  // by memory: the least its devices state; infinity where none does

  // By from * num_devices + to. A transfer of b bytes costs latency + b * seconds_per_byte; both are 0 where it is
  // free.
  std::vector<double> latency;
  std::vector<double> seconds_per_byte;
  std::vector<std::uint8_t> free;     // to itself, to one it shares a unit with, or no link and no default
  std::vector<std::int32_t> channel;  // what the transfer occupies under contention: a bus, or the ordered pair
  std::vector<std::int32_t> entry;    // the channel it passes then, as simulate/contention.h has it, numbered with the
                                      // others; -1: none. Empty where no pair has one

  std::size_t Pair(int from, int to) const {
    return static_cast<std::size_t>(from) * static_cast<std::size_t>(num_devices) + static_cast<std::size_t>(to);
  }
  bool AllTransfersFree() const {
    return std::all_of(free.begin(), free.end(), [](std::uint8_t is_free) { return is_free != 0; });
  }
  int UnitsOf(int device) const {
    return device_offsets[static_cast<std::size_t>(device) + 1] - device_offsets[static_cast<std::size_t>(device)];
  }
  // Under contention: how many channels there are, with those that nothing uses.
  std::size_t NumChannels() const;
  // -1: none.
  std::int32_t EntryOf(std::size_t pair) const { return entry.empty() ? -1 : entry[pair]; }
  std::span<const std::int32_t> UnitsAt(int device) const {
    return std::span(device_units)
        .subspan(static_cast<std::size_t>(device_offsets[static_cast<std::size_t>(device)]),
                 static_cast<std::size_t>(UnitsOf(device)));
  }
};

// Precondition: CheckMachine accepts the machine.
Topology MakeTopology(const Machine& machine);

}  // namespace millrace
