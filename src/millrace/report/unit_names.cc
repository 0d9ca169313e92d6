// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/unit_names.h"

#include <fmt/format.h>

#include <cstddef>
#include <set>

namespace millrace {

std::vector<std::string> UnitNames(const Machine& machine, const Topology& topology) {
  std::set<int> ids;
  for (const Device& device : machine.devices) ids.insert(device.units.begin(), device.units.end());
  std::vector<std::string> names;
  for (const int id : ids) names.push_back(fmt::format("unit {}", id));
  for (std::size_t device = 0; device < machine.devices.size(); ++device) {
    if (topology.UnitsOf(static_cast<int>(device)) != 1) continue;
    names[static_cast<std::size_t>(topology.device_units[static_cast<std::size_t>(topology.device_offsets[device])])] =
        machine.devices[device].name;
  }
  return names;
}

std::vector<std::string> MemoryNames(const Machine& machine, const Topology& topology) {
  std::vector<std::string> single(static_cast<std::size_t>(topology.num_memories)), all(single.size());
  for (std::size_t device = 0; device < machine.devices.size(); ++device) {
    const auto memory = static_cast<std::size_t>(topology.memory_of[device]);
    const auto add = [&](std::string& names) { names += (names.empty() ? "" : ", ") + machine.devices[device].name; };
    add(all[memory]);
    if (topology.UnitsOf(static_cast<int>(device)) == 1) add(single[memory]);
  }
  std::vector<std::string> names;
  for (std::size_t memory = 0; memory < all.size(); ++memory)
    names.push_back((single[memory].empty() ? all[memory] : single[memory]) + " memory");
  return names;
}

}  // namespace millrace
