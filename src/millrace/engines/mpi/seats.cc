// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/mpi/seats.h"

#include <algorithm>
#include <map>
#include <set>

#include "millrace/machine/topology.h"

namespace millrace::mpi {

std::vector<Seat> SeatsOf(const Machine& machine) {
  bool numbered = false;
  for (const Device& device : machine.devices) {
    for (const int unit : device.units) numbered = numbered || unit >= kUnitsOfARank;
  }
  const Topology topology = MakeTopology(machine);
  std::map<int, std::set<int>> units_of;  // by memory
  std::map<int, int> rank_of;             // by memory
  for (std::size_t device = 0; device < machine.devices.size(); ++device) {
    const int memory = topology.memory_of[device];
    rank_of.emplace(memory, static_cast<int>(rank_of.size()));
    units_of[memory].insert(machine.devices[device].units.begin(), machine.devices[device].units.end());
  }
  std::vector<Seat> seats;
  for (std::size_t device = 0; device < machine.devices.size(); ++device) {
    const std::vector<int>& units = machine.devices[device].units;
    const int memory = topology.memory_of[device];
    Seat seat;
    seat.rank = numbered ? units.front() / kUnitsOfARank : rank_of[memory];
    for (const int unit : units) {
      const std::set<int>& all = units_of[memory];
      seat.processors.push_back(numbered ? unit % kUnitsOfARank
                                         : static_cast<int>(std::distance(all.begin(), all.find(unit))));
    }
    std::sort(seat.processors.begin(), seat.processors.end());
    seats.push_back(std::move(seat));
  }
  return seats;
}

int RanksOf(const std::vector<Seat>& seats) {
  int ranks = 0;
  for (const Seat& seat : seats) ranks = std::max(ranks, seat.rank + 1);
  return ranks;
}

}  // namespace millrace::mpi
