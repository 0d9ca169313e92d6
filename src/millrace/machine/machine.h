// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The machine a plan is made for: devices made of units, joined by directed links. Plain data. Seconds, bytes, flops.
namespace millrace {

// What runs one fusion group at a time. It owns all its units while it does; devices that share a unit exclude each
// other and share one memory, so "both cores for one op" is a third device beside core 0 and core 1 (a gang).
struct Device {
  std::string name;
  std::string kind;                    // devices of one kind take equally long for the same op
  std::vector<int> units;              // ids of cores, GPUs, ...: any distinct numbers >= 0
  double flops_per_second = 0;         // > 0
  double memory_bandwidth = 0;         // bytes per second, > 0
  std::optional<double> memory_bytes;  // capacity; unlimited where absent
  double launch_seconds = 0;           // paid once per group

  bool operator==(const Device&) const = default;
};

// Directed. A transfer of b bytes takes latency_seconds + b / bandwidth.
struct Link {
  int from = 0;
  int to = 0;
  double latency_seconds = 0;
  double bandwidth = 0;                   // bytes per second, > 0; kUnlimitedBandwidth for no limit
  std::optional<int> channel;             // links of one channel share one bus under contention
  std::optional<int> entry_channel = {};  // the bus that the link ends in: what comes over it passes there, too

  bool operator==(const Link&) const = default;
};

// How transfers share a channel under contention.
enum class Sharing {
  kOneAtATime,  // first ready, first served: the copies of one host
  kFair         // all at once, evenly: connections of TCP (simulate/fair_share.h)
};

// "one-at-a-time", "fair".
std::string_view NameOf(Sharing sharing);

// Nothing for any other name.
std::optional<Sharing> SharingNamed(std::string_view name);

// The link between every pair of devices that has none of its own.
struct DefaultLink {
  double latency_seconds = 0;
  double bandwidth = 0;

  bool operator==(const DefaultLink&) const = default;
};

struct Machine {
  std::string name;
  std::vector<Device> devices;
  std::vector<Link> links;
  std::optional<DefaultLink> default_link;  // absent: pairs without a link transfer for free
  Sharing sharing = Sharing::kOneAtATime;

  bool operator==(const Machine&) const = default;
};

// Files know no infinity, so the largest double stands for a link without a limit: bytes over it cost nothing.
inline constexpr double kUnlimitedBandwidth = 1.7976931348623157e308;

// Throws InvalidInput, naming the device or link: no devices, a device without units or with a negative or repeated
// one, a rate that is not > 0, a cost that is negative or not finite, links to nowhere, to itself, or given twice, and
// one whose two channels are the same.
void CheckMachine(const Machine& machine);

}  // namespace millrace
