// SPDX-License-Identifier: Apache-2.0
#include "tests/reference/slow_simulator.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

namespace millrace::testing {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

const Device& DeviceAt(const Machine& machine, int device) { return machine.devices[static_cast<std::size_t>(device)]; }

bool Has(const std::vector<int>& values, int wanted) {
  return std::find(values.begin(), values.end(), wanted) != values.end();
}

bool ShareAUnit(const Machine& machine, int a, int b) {
  for (const int unit : DeviceAt(machine, a).units) {
    if (Has(DeviceAt(machine, b).units, unit)) return true;
  }
  return false;
}

// The devices that use the same memory as this one, itself included.
std::set<int> MemoryOf(const Machine& machine, int device) {
  std::set<int> devices{device};
  for (std::size_t before = 0; before != devices.size();) {
    before = devices.size();
    for (int other = 0; other < static_cast<int>(machine.devices.size()); ++other) {
      for (const int known : std::set<int>(devices)) {
        if (ShareAUnit(machine, known, other)) devices.insert(other);
      }
    }
  }
  return devices;
}

double TransferSeconds(const Machine& machine, double bytes, int from, int to) {
  if (from == to || ShareAUnit(machine, from, to)) return 0;
  for (const Link& link : machine.links) {
    if (link.from != from || link.to != to) continue;
    return link.latency_seconds + (link.bandwidth == kUnlimitedBandwidth ? 0.0 : bytes / link.bandwidth);
  }
  if (!machine.default_link) return 0;
  const DefaultLink& link = *machine.default_link;
  return link.latency_seconds + (link.bandwidth == kUnlimitedBandwidth ? 0.0 : bytes / link.bandwidth);
}

std::optional<double> SecondsOn(const StatedSeconds& stated, const std::string& kind) {
  if (stated.everywhere) return stated.everywhere;
  for (const auto& [name, seconds] : stated.by_kind) {
    if (name == kind) return seconds;
  }
  return std::nullopt;
}

bool IsStated(const Op& op) { return op.seconds.everywhere || !op.seconds.by_kind.empty(); }

// Does anybody outside the group, or nobody at all, read the tensor?
bool LeavesGroup(const Tensor& tensor, const std::vector<OpId>& group) {
  if (tensor.consumers.empty()) return true;
  for (const OpId consumer : tensor.consumers) {
    if (!Has(group, consumer)) return true;
  }
  return false;
}

struct Lying {
  double from, to, bytes;
};

double PeakOf(const std::vector<Lying>& all, double weights) {
  double peak = weights;
  for (const Lying& moment : all) {
    double now = weights;
    for (const Lying& each : all) {
      if (each.from <= moment.from && moment.from < each.to) now += each.bytes;
    }
    peak = std::max(peak, now);
  }
  return peak;
}

double PeakMemoryOfDevice(const ComputationGraph& graph, const Machine& machine, const Plan& plan,
                          const SlowTimeline& timeline, int device) {
  const std::set<int> memory = MemoryOf(machine, device);
  const auto lies_here = [&](std::size_t group) { return memory.count(plan.placement[group]) != 0; };
  double weights = 0;
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    for (const OpId op : plan.groups[g]) weights += lies_here(g) ? graph.op(op).weight_bytes : 0.0;
  }
  std::vector<Lying> all;
  for (const Tensor& tensor : graph.tensors()) {
    double last_read_here = -1;
    std::optional<std::size_t> producer;
    for (std::size_t g = 0; g < plan.groups.size(); ++g) {
      if (Has(plan.groups[g], tensor.producer)) producer = g;
    }
    for (std::size_t g = 0; g < plan.groups.size(); ++g) {
      for (const OpId op : plan.groups[g]) {
        if (Has(tensor.consumers, op) && lies_here(g) && producer != g)
          last_read_here = std::max(last_read_here, timeline.finish[g]);
      }
    }
    if (!producer) {
      if (last_read_here >= 0) all.push_back({0, last_read_here, tensor.bytes});
      continue;
    }
    if (!LeavesGroup(tensor, plan.groups[*producer])) continue;
    if (lies_here(*producer)) {
      const double end = tensor.output ? timeline.makespan : std::max(timeline.finish[*producer], last_read_here);
      all.push_back({timeline.start[*producer], end, tensor.bytes});
    } else if (last_read_here >= 0) {
      all.push_back({timeline.finish[*producer], last_read_here, tensor.bytes});
    }
  }
  return PeakOf(all, weights);
}

}  // namespace

double SlowGroupSeconds(const ComputationGraph& graph, const Machine& machine, const std::vector<OpId>& group,
                        int device) {
  const Device& where = DeviceAt(machine, device);
  for (const OpId op : group) {
    if (IsStated(graph.op(op)) && !SecondsOn(graph.op(op).seconds, where.kind)) return kNever;
  }
  for (const GroupTime& entry : graph.group_seconds()) {
    if (std::set<OpId>(entry.ops.begin(), entry.ops.end()) == std::set<OpId>(group.begin(), group.end()))
      return SecondsOn(entry.seconds, where.kind).value_or(kNever);
  }
  double stated = 0;
  double flops = 0;
  double bytes = 0;
  bool any_estimated = false;
  for (const OpId op : group) {
    if (IsStated(graph.op(op))) {
      stated += *SecondsOn(graph.op(op).seconds, where.kind);
      continue;
    }
    any_estimated = true;
    flops += graph.op(op).flops;
    bytes += graph.op(op).weight_bytes;
  }
  if (!any_estimated) return stated;
  for (const Tensor& tensor : graph.tensors()) {
    bool read = false;
    for (const OpId op : group) read = read || (!IsStated(graph.op(op)) && Has(tensor.consumers, op));
    if (read && !Has(group, tensor.producer)) bytes += tensor.bytes;
    if (Has(group, tensor.producer) && !IsStated(graph.op(tensor.producer)) && LeavesGroup(tensor, group))
      bytes += tensor.bytes;
  }
  if (group.size() == 1 && graph.op(group[0]).bytes_accessed) bytes = *graph.op(group[0]).bytes_accessed;
  return stated + where.launch_seconds + std::max(flops / where.flops_per_second, bytes / where.memory_bandwidth);
}

SlowTimeline SlowSimulate(const ComputationGraph& graph, const Machine& machine, const Plan& plan) {
  SlowTimeline timeline;
  timeline.start.assign(plan.groups.size(), 0.0);
  timeline.finish.assign(plan.groups.size(), 0.0);
  for (std::size_t i = 0; i < plan.sequence.size(); ++i) {
    const auto group = static_cast<std::size_t>(plan.sequence[i]);
    const int device = plan.placement[group];
    double start = 0;
    for (std::size_t j = 0; j < i; ++j) {
      const auto earlier = static_cast<std::size_t>(plan.sequence[j]);
      if (ShareAUnit(machine, plan.placement[earlier], device)) start = std::max(start, timeline.finish[earlier]);
      for (const Tensor& tensor : graph.tensors()) {
        if (!Has(plan.groups[earlier], tensor.producer)) continue;
        for (const OpId op : plan.groups[group]) {
          if (!Has(tensor.consumers, op)) continue;
          start = std::max(start, timeline.finish[earlier] +
                                      TransferSeconds(machine, tensor.bytes, plan.placement[earlier], device));
        }
      }
    }
    timeline.start[group] = start;
    timeline.finish[group] = start + SlowGroupSeconds(graph, machine, plan.groups[group], device);
    timeline.makespan = std::max(timeline.makespan, timeline.finish[group]);
  }
  for (int device = 0; device < static_cast<int>(machine.devices.size()); ++device) {
    const double peak = PeakMemoryOfDevice(graph, machine, plan, timeline, device);
    timeline.peak_memory_bytes.push_back(peak);
    for (const int sharing : MemoryOf(machine, device)) {
      const std::optional<double>& capacity = DeviceAt(machine, sharing).memory_bytes;
      if (capacity && peak > *capacity) timeline.feasible = false;
    }
  }
  return timeline;
}

double SlowLowerBound(const ComputationGraph& graph, const Machine& machine, const FusionGroups& groups) {
  std::set<int> units;
  for (const Device& device : machine.devices) units.insert(device.units.begin(), device.units.end());
  std::vector<double> fastest;
  double work = 0;
  for (const std::vector<OpId>& group : groups) {
    double least_seconds = kNever;
    double least_work = kNever;
    for (int device = 0; device < static_cast<int>(machine.devices.size()); ++device) {
      const double seconds = SlowGroupSeconds(graph, machine, group, device);
      least_seconds = std::min(least_seconds, seconds);
      least_work = std::min(least_work, seconds * static_cast<double>(DeviceAt(machine, device).units.size()));
    }
    fastest.push_back(least_seconds);
    work += least_work;
  }
  // Longest path by relaxing every tensor between two groups as often as there are groups.
  std::vector<double> finish = fastest;
  for (std::size_t round = 0; round < groups.size(); ++round) {
    for (std::size_t to = 0; to < groups.size(); ++to) {
      for (const Tensor& tensor : graph.tensors()) {
        const bool reads =
            std::any_of(groups[to].begin(), groups[to].end(), [&tensor](OpId op) { return Has(tensor.consumers, op); });
        if (!reads || Has(groups[to], tensor.producer)) continue;
        for (std::size_t from = 0; from < groups.size(); ++from) {
          if (Has(groups[from], tensor.producer)) finish[to] = std::max(finish[to], finish[from] + fastest[to]);
        }
      }
    }
  }
  double bound = work / static_cast<double>(units.size());
  for (const double end : finish) bound = std::max(bound, end);
  return bound;
}

}  // namespace millrace::testing
