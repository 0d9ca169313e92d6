// SPDX-License-Identifier: Apache-2.0
#include "millrace/machine/machine.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "millrace/errors/errors.h"

namespace millrace {
namespace {

// Pairs of devices are kept in square tables.
constexpr std::size_t kMostDevices = 1024;
constexpr int kLargestUnit = 1 << 20;

void CheckCost(double value, const std::string& where, const char* what) {
  if (!std::isfinite(value) || value < 0) throw InvalidInput(where + ": " + what + " must be a finite number >= 0");
}

void CheckRate(double value, const std::string& where, const char* what) {
  if (!std::isfinite(value) || value <= 0) throw InvalidInput(where + ": " + what + " must be a finite number > 0");
}

void CheckDevice(const Device& device, const std::string& where) {
  if (device.units.empty()) throw InvalidInput(where + ": it owns no units; give it at least one");
  std::set<int> seen;
  for (const int unit : device.units) {
    if (unit < 0 || unit > kLargestUnit)
      throw InvalidInput(where + ": unit " + std::to_string(unit) + " is out of range");
    if (!seen.insert(unit).second) throw InvalidInput(where + ": unit " + std::to_string(unit) + " is listed twice");
  }
  CheckRate(device.flops_per_second, where, "flops_per_second");
  CheckRate(device.memory_bandwidth, where, "memory_bandwidth");
  CheckCost(device.launch_seconds, where, "launch_seconds");
  if (device.memory_bytes) CheckCost(*device.memory_bytes, where, "memory_bytes");
}

void CheckChannel(const std::optional<int>& channel, const std::string& where, const char* what) {
  if (channel && *channel < 0)
    throw InvalidInput(where + ": " + what + " " + std::to_string(*channel) + "; channels are numbered from 0");
}

}  // namespace

std::string_view NameOf(Sharing sharing) { return sharing == Sharing::kFair ? "fair" : "one-at-a-time"; }

std::optional<Sharing> SharingNamed(std::string_view name) {
  for (const Sharing sharing : {Sharing::kOneAtATime, Sharing::kFair}) {
    if (name == NameOf(sharing)) return sharing;
  }
  return std::nullopt;
}

void CheckMachine(const Machine& machine) {
  if (machine.devices.empty()) throw InvalidInput("the machine has no devices");
  if (machine.devices.size() > kMostDevices) {
    throw InvalidInput("the machine has " + std::to_string(machine.devices.size()) + " devices; at most " +
                       std::to_string(kMostDevices) + " are supported");
  }
  for (std::size_t i = 0; i < machine.devices.size(); ++i) {
    CheckDevice(machine.devices[i], "device " + std::to_string(i) + " '" + machine.devices[i].name + "'");
  }
  std::set<std::pair<int, int>> pairs;
  const int devices = static_cast<int>(machine.devices.size());
  for (std::size_t i = 0; i < machine.links.size(); ++i) {
    const Link& link = machine.links[i];
    const std::string where =
        "link " + std::to_string(i) + " (" + std::to_string(link.from) + " to " + std::to_string(link.to) + ")";
    if (link.from < 0 || link.from >= devices || link.to < 0 || link.to >= devices) {
      throw InvalidInput(where + ": it joins a device that does not exist; there are devices 0.." +
                         std::to_string(devices - 1));
    }
    if (link.from == link.to) throw InvalidInput(where + ": a device needs no link to itself");
    CheckChannel(link.channel, where, "channel");
    CheckChannel(link.entry_channel, where, "entry_channel");
    if (link.entry_channel && link.entry_channel == link.channel)
      throw InvalidInput(where + ": its channel and its entry_channel are the same; leave the second out");
    if (!pairs.emplace(link.from, link.to).second) throw InvalidInput(where + ": this pair already has a link");
    CheckCost(link.latency_seconds, where, "latency_seconds");
    CheckRate(link.bandwidth, where, "bandwidth");
  }
  if (machine.default_link) {
    CheckCost(machine.default_link->latency_seconds, "default_link", "latency_seconds");
    CheckRate(machine.default_link->bandwidth, "default_link", "bandwidth");
  }
}

}  // namespace millrace
