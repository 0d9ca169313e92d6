// SPDX-License-Identifier: Apache-2.0
#include "millrace/machine/topology.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

namespace millrace {
namespace {

void FillUnits(const Machine& machine, Topology& topology) {
  std::map<int, std::int32_t> number_of;
  for (const Device& device : machine.devices) {
    for (const int unit : device.units) number_of.emplace(unit, 0);
  }
  std::int32_t next = 0;
  for (auto& [unit, number] : number_of) number = next++;
  topology.num_units = next;
  topology.device_offsets.push_back(0);
  for (const Device& device : machine.devices) {
    for (const int unit : device.units) topology.device_units.push_back(number_of[unit]);
    topology.device_offsets.push_back(static_cast<std::int32_t>(topology.device_units.size()));
  }
}

void FillMemories(const Machine& machine, Topology& topology) {
  // Union-find over units: a device joins all of its own.
  std::vector<std::int32_t> parent(static_cast<std::size_t>(topology.num_units));
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&parent](std::int32_t unit) {
    while (parent[static_cast<std::size_t>(unit)] != unit) {
      std::int32_t& up = parent[static_cast<std::size_t>(unit)];
      unit = up = parent[static_cast<std::size_t>(up)];
    }
    return unit;
  };
  const auto first_unit = [&topology](std::size_t device) {
    return topology.device_units[static_cast<std::size_t>(topology.device_offsets[device])];
  };
  for (std::size_t d = 0; d < machine.devices.size(); ++d) {
    for (std::int32_t i = topology.device_offsets[d]; i < topology.device_offsets[d + 1]; ++i) {
      parent[static_cast<std::size_t>(root(topology.device_units[static_cast<std::size_t>(i)]))] = root(first_unit(d));
    }
  }
  std::map<std::int32_t, std::int32_t> number_of;
  for (std::size_t d = 0; d < machine.devices.size(); ++d) {
    const auto [entry, added] = number_of.emplace(root(first_unit(d)), topology.num_memories);
    if (added) {
      ++topology.num_memories;
      topology.memory_bytes.push_back(std::numeric_limits<double>::infinity());
    }
    topology.memory_of.push_back(entry->second);
    if (machine.devices[d].memory_bytes) {
      double& capacity = topology.memory_bytes[static_cast<std::size_t>(entry->second)];
      capacity = std::min(capacity, *machine.devices[d].memory_bytes);
    }
  }
}

// Finite for the least bandwidth, too: nothing sent over it has to take no time.
double SecondsPerByte(double bandwidth) {
  if (bandwidth >= kUnlimitedBandwidth) return 0;
  return std::min(1.0 / bandwidth, std::numeric_limits<double>::max());
}

void FillLinks(const Machine& machine, Topology& topology) {
  const std::size_t devices = machine.devices.size();
  topology.latency.assign(devices * devices, 0.0);
  topology.seconds_per_byte.assign(devices * devices, 0.0);
  topology.free.assign(devices * devices, 1);
  topology.channel.resize(devices * devices);
  std::iota(topology.channel.begin(), topology.channel.end(), 0);
  const auto set = [&topology](int from, int to, double latency, double bandwidth) {
    const std::size_t pair = topology.Pair(from, to);
    topology.free[pair] = 0;
    topology.latency[pair] = latency;
    topology.seconds_per_byte[pair] = SecondsPerByte(bandwidth);
  };
  if (machine.default_link) {
    for (int from = 0; from < topology.num_devices; ++from) {
      for (int to = 0; to < topology.num_devices; ++to) {
        set(from, to, machine.default_link->latency_seconds, machine.default_link->bandwidth);
      }
    }
  }
  std::map<int, std::int32_t> bus_of;
  for (const Link& link : machine.links) {
    set(link.from, link.to, link.latency_seconds, link.bandwidth);
    const auto bus = [&](int channel) {
      return bus_of.emplace(channel, static_cast<std::int32_t>(devices * devices + bus_of.size())).first->second;
    };
    if (link.channel) topology.channel[topology.Pair(link.from, link.to)] = bus(*link.channel);
    if (!link.entry_channel) continue;
    topology.entry.resize(devices * devices, -1);
    topology.entry[topology.Pair(link.from, link.to)] = bus(*link.entry_channel);
  }
}

void FreeSharedUnits(Topology& topology) {
  std::vector<std::vector<int>> devices_of(static_cast<std::size_t>(topology.num_units));
  for (int device = 0; device < topology.num_devices; ++device) {
    const auto d = static_cast<std::size_t>(device);
    for (std::int32_t i = topology.device_offsets[d]; i < topology.device_offsets[d + 1]; ++i)
      devices_of[static_cast<std::size_t>(topology.device_units[static_cast<std::size_t>(i)])].push_back(device);
  }
  for (const std::vector<int>& devices : devices_of) {
    for (const int from : devices) {
      for (const int to : devices) {
        const std::size_t pair = topology.Pair(from, to);
        topology.free[pair] = 1;
        topology.latency[pair] = 0;
        topology.seconds_per_byte[pair] = 0;
      }
    }
  }
}

}  // namespace

std::size_t Topology::NumChannels() const {
  std::size_t count = 0;
  for (const std::int32_t number : channel) count = std::max(count, static_cast<std::size_t>(number) + 1);
  for (const std::int32_t number : entry) {
    if (number >= 0) count = std::max(count, static_cast<std::size_t>(number) + 1);
  }
  return count;
}

Topology MakeTopology(const Machine& machine) {
  Topology topology;
  topology.num_devices = static_cast<int>(machine.devices.size());
  topology.sharing = machine.sharing;
  FillUnits(machine, topology);
  FillMemories(machine, topology);
  FillLinks(machine, topology);
  FreeSharedUnits(topology);
  return topology;
}

}  // namespace millrace
