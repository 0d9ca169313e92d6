// SPDX-License-Identifier: Apache-2.0
#include "millrace/machine/detect.h"

#include <hwloc.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <thread>

#include "millrace/machine/cgroup.h"

namespace millrace {
namespace {

// With all gangs there are less than twice as many devices as processors, and a machine has at most 1024 devices.
constexpr std::size_t kMostProcessors = 512;

// One core seldom draws more than 10e9 bytes/s from memory on its own, and four of them come near what the memory of a
// socket gives; profiling replaces both.
constexpr double kBandwidthPerProcessor = 10e9;
constexpr double kMostBandwidthShares = 4;

// Handing a group to a worker that spins costs about a microsecond; a gang also meets at a barrier.
constexpr double kLaunchSeconds = 1e-6;
constexpr double kGangLaunchSeconds = 3e-6;

// A tensor that another core has just written comes out of that core's cache or of one they share. What that takes was
// fitted to plans of six branchy networks on an AMD EPYC (docs/results/cpu.md): less than reading such a tensor does by
// itself, since kernels compute meanwhile.
constexpr DefaultLink kHandOver{.latency_seconds = 0.065e-6, .bandwidth = 200e9};

// Operating-system numbers of the processors our affinity mask allows, ascending.
std::vector<int> AllowedProcessors() {
  for (int size = 1024; size <= (1 << 20); size *= 2) {
    cpu_set_t* set = CPU_ALLOC(size);
    const std::size_t bytes = CPU_ALLOC_SIZE(size);
    std::vector<int> processors;
    const bool read = set != nullptr && sched_getaffinity(0, bytes, set) == 0;
    for (int cpu = 0; read && cpu < size; ++cpu) {
      if (CPU_ISSET_S(cpu, bytes, set)) processors.push_back(cpu);
    }
    CPU_FREE(set);
    if (!processors.empty()) return processors;
  }
  std::vector<int> processors(std::max(1U, std::thread::hardware_concurrency()));
  std::iota(processors.begin(), processors.end(), 0);
  return processors;
}

// Gives the topology of this host to `read`, if hwloc has one.
template <typename Read>
void ReadTopology(const Read& read) {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return;
  if (hwloc_topology_load(topology) == 0) read(topology);
  hwloc_topology_destroy(topology);
}

// The same processors with those that share caches and sockets side by side, as far as hwloc can tell.
std::vector<int> NeighboursTogether(std::vector<int> processors) {
  std::vector<int> ordered;
  ReadTopology([&](hwloc_topology_t topology) {
    hwloc_obj_t unit = nullptr;
    while ((unit = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, unit)) != nullptr) {
      const int cpu = static_cast<int>(unit->os_index);
      const auto found = std::find(processors.begin(), processors.end(), cpu);
      if (found == processors.end()) continue;
      processors.erase(found);
      ordered.push_back(cpu);
    }
  });
  ordered.insert(ordered.end(), processors.begin(), processors.end());
  return ordered;
}

struct ProcessorFacts {
  double hertz = 0;
  double flops_per_cycle = 8;
};

ProcessorFacts ReadProcessorFacts(const std::vector<int>& processors) {
  ProcessorFacts facts;
  double megahertz = 0;
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    if (line.starts_with("cpu MHz")) {
      megahertz = std::max(megahertz, std::strtod(line.c_str() + colon + 1, nullptr));
    } else if (line.starts_with("flags")) {
      std::istringstream words(line.substr(colon + 1));
      bool avx512f = false, avx2 = false, fma = false;
      for (std::string word; words >> word;) {
        avx512f |= word == "avx512f";
        avx2 |= word == "avx2";
        fma |= word == "fma";
      }
      // Single precision: two units, each a multiply and an add on 16, 8 or (without fused multiply-add) 4 / 2 lanes.
      facts.flops_per_cycle = avx512f ? 64 : avx2 && fma ? 32 : 8;
    }
  }
  for (const int cpu : processors) {
    std::ifstream most("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq/cpuinfo_max_freq");
    double kilohertz = 0;
    if (most >> kilohertz) megahertz = std::max(megahertz, kilohertz / 1e3);
  }
  constexpr double kUsualMegahertz = 2000;
  const bool believable = std::isfinite(megahertz) && megahertz >= 100 && megahertz <= 20000;
  facts.hertz = (believable ? megahertz : kUsualMegahertz) * 1e6;
  return facts;
}

std::optional<double> InstalledMemory() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("MemTotal:")) continue;
    const double kibibytes = std::strtod(line.c_str() + sizeof("MemTotal:") - 1, nullptr);
    if (kibibytes > 0) return kibibytes * 1024;
  }
  return std::nullopt;
}

Device DeviceOver(std::vector<int> units, const ProcessorFacts& facts, std::optional<double> memory_bytes) {
  const double count = static_cast<double>(units.size());
  Device device;
  device.name = "cpu";
  // A gang's first and last processors tell it from the others of its size.
  device.name += units.size() == 1 ? std::to_string(units.front())
                                   : "s" + std::to_string(units.front()) + "-" + std::to_string(units.back());
  device.kind = units.size() == 1 ? "cpu" : "cpu_x" + std::to_string(units.size());
  device.flops_per_second = count * facts.hertz * facts.flops_per_cycle;
  device.memory_bandwidth = kBandwidthPerProcessor * std::min(count, kMostBandwidthShares);
  device.memory_bytes = memory_bytes;
  device.launch_seconds = units.size() == 1 ? kLaunchSeconds : kGangLaunchSeconds;
  device.units = std::move(units);
  return device;
}

std::size_t WithinQuota(std::size_t processors, const CgroupLimits& limits) {
  if (!limits.processors || *limits.processors >= static_cast<double>(processors)) return processors;
  return std::max<std::size_t>(1, static_cast<std::size_t>(*limits.processors));
}

}  // namespace

Machine DetectHost() {
  std::vector<int> processors = NeighboursTogether(AllowedProcessors());
  const CgroupLimits limits = ReadCgroupLimits("");
  const std::size_t count = WithinQuota(std::min(processors.size(), kMostProcessors), limits);
  processors.resize(count);

  const ProcessorFacts facts = ReadProcessorFacts(processors);
  std::optional<double> memory = InstalledMemory();
  if (limits.memory_bytes) memory = std::min(*limits.memory_bytes, memory.value_or(*limits.memory_bytes));

  Machine machine;
  machine.name = "this";
  const auto add = [&](std::size_t first, std::size_t size) {
    const auto begin = processors.begin() + static_cast<std::ptrdiff_t>(first);
    machine.devices.push_back(
        DeviceOver(std::vector<int>(begin, begin + static_cast<std::ptrdiff_t>(size)), facts, memory));
  };
  for (std::size_t size = 1; size < count; size *= 2) {
    for (std::size_t first = 0; first + size <= count; first += size) add(first, size);
  }
  add(0, count);
  if (count > 1) machine.default_link = kHandOver;
  return machine;
}

bool GuessesHandOvers(const Machine& machine) { return machine.links.empty() && machine.default_link == kHandOver; }

int UsableProcessors() { return static_cast<int>(WithinQuota(AllowedProcessors().size(), ReadCgroupLimits(""))); }

std::vector<int> SharedDepths(std::span<const int> processors) {
  const std::size_t count = processors.size();
  std::vector<int> depths(count * count, 0);
  ReadTopology([&](hwloc_topology_t topology) {
    std::vector<hwloc_obj_t> units;
    for (const int processor : processors)
      units.push_back(hwloc_get_pu_obj_by_os_index(topology, static_cast<unsigned>(processor)));
    for (std::size_t i = 0; i < count * count; ++i) {
      const hwloc_obj_t from = units[i / count], to = units[i % count];
      if (from == nullptr || to == nullptr) continue;
      depths[i] = hwloc_get_common_ancestor_obj(topology, from, to)->depth;
    }
  });
  return depths;
}

std::size_t LargestCacheBytes() {
  constexpr std::size_t kUsual = std::size_t{32} << 20;
  static const std::size_t bytes = [] {
    std::size_t largest = 0;
    ReadTopology([&largest](hwloc_topology_t topology) {
      for (hwloc_obj_t at = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU, 0); at != nullptr; at = at->parent) {
        if (!hwloc_obj_type_is_cache(at->type)) continue;
        largest = std::max(largest, ReachableCacheBytes(at->attr->cache.size, hwloc_bitmap_weight(at->cpuset)));
      }
    });
    return largest > 0 ? largest : kUsual;
  }();
  return bytes;
}

std::size_t ReachableCacheBytes(std::size_t said, int processors) {
  constexpr std::size_t kMostOfAProcessor = std::size_t{32} << 20;
  return std::min(said, kMostOfAProcessor * static_cast<std::size_t>(std::max(1, processors)));
}

}  // namespace millrace
