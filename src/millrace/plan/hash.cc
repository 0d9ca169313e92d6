// SPDX-License-Identifier: Apache-2.0
#include "millrace/plan/hash.h"

#include <bit>
#include <cstdint>
#include <cstdio>
#include <map>

namespace millrace {
namespace {

class Fnv1a {
 public:
  void Add(std::uint64_t word) {
    for (int shift = 0; shift < 64; shift += 8) AddByte(static_cast<std::uint8_t>(word >> shift));
  }
  void Add(std::int32_t number) { Add(static_cast<std::uint64_t>(static_cast<std::int64_t>(number))); }
  void Add(double number) { Add(std::bit_cast<std::uint64_t>(number == 0 ? 0.0 : number)); }
  void Add(const std::string& text) {
    Add(static_cast<std::uint64_t>(text.size()));
    for (const char c : text) AddByte(static_cast<std::uint8_t>(c));
  }
  void Add(const std::vector<int>& numbers) {
    Add(static_cast<std::uint64_t>(numbers.size()));
    for (const int number : numbers) Add(number);
  }

  std::string Hex() const {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash_));
    return text;
  }

 private:
  void AddByte(std::uint8_t byte) {
    hash_ ^= byte;
    hash_ *= 0x100000001b3ULL;
  }

  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

}  // namespace

std::string GraphHash(const ComputationGraph& graph) {
  Fnv1a hash;
  hash.Add(graph.num_ops());
  // Colocation strings count as a partition: which ops are together, not what the string says.
  std::map<std::string, std::int32_t> class_of;
  for (const Op& op : graph.ops()) {
    hash.Add(op.type);
    const std::int32_t next = static_cast<std::int32_t>(class_of.size());
    hash.Add(op.colocate.empty() ? -1 : class_of.emplace(op.colocate, next).first->second);
  }
  hash.Add(graph.num_tensors());
  for (const Tensor& tensor : graph.tensors()) {
    hash.Add(tensor.producer);
    hash.Add(tensor.consumers);
    hash.Add(tensor.bytes);
    hash.Add(tensor.output ? 1 : 0);
  }
  return hash.Hex();
}

std::string MachineHash(const Machine& machine) {
  Fnv1a hash;
  hash.Add(static_cast<std::uint64_t>(machine.devices.size()));
  for (const Device& device : machine.devices) {
    hash.Add(device.kind);
    hash.Add(device.units);
    hash.Add(device.flops_per_second);
    hash.Add(device.memory_bandwidth);
    hash.Add(device.memory_bytes.value_or(-1.0));
    hash.Add(device.launch_seconds);
  }
  hash.Add(static_cast<std::uint64_t>(machine.links.size()));
  for (const Link& link : machine.links) {
    hash.Add(link.from);
    hash.Add(link.to);
    hash.Add(link.latency_seconds);
    hash.Add(link.bandwidth);
    hash.Add(link.channel ? 1 : 0);
    hash.Add(link.channel.value_or(0));
    if (link.entry_channel) hash.Add(*link.entry_channel);
  }
  if (machine.default_link) {
    hash.Add(machine.default_link->latency_seconds);
    hash.Add(machine.default_link->bandwidth);
  }
  if (machine.sharing != Sharing::kOneAtATime) hash.Add(std::string(NameOf(machine.sharing)));
  return hash.Hex();
}

std::string PlanHash(const Plan& plan) {
  Fnv1a hash;
  hash.Add(static_cast<std::uint64_t>(plan.groups.size()));
  for (const std::vector<OpId>& group : plan.groups) hash.Add(group);
  hash.Add(plan.placement);
  hash.Add(plan.sequence);
  return hash.Hex();
}

}  // namespace millrace
