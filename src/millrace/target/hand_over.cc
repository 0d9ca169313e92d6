// SPDX-License-Identifier: Apache-2.0
#include "millrace/target/hand_over.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "millrace/machine/detect.h"
#include "millrace/runtime/aligned_memory.h"
#include "millrace/runtime/host_units.h"
#include "millrace/runtime/progress.h"
#include "millrace/runtime/worker_pool.h"
#include "millrace/target/statistics.h"

namespace millrace {
namespace {

constexpr int kSeries = 15;
constexpr int kRoundTrips = 40;  // of a series
constexpr std::size_t kTensorBytes = std::size_t{1} << 20;
constexpr std::size_t kHalf = kTensorBytes / sizeof(float) / 2;

constexpr std::size_t kPairsOfAClass = 3;
constexpr std::size_t kMostLinkedUnits = 64;
constexpr double kAlike = 1.5;

using Clock = std::chrono::steady_clock;

double Since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Two processors that work in turn or at once.
class Pair {
 public:
  Pair(int processor, int other) : pool_({processor, other}) {
    for (std::shared_ptr<std::byte>& tensor : tensors_) {
      tensor = AllocateAligned(kTensorBytes);
      std::memset(tensor.get(), 0, kTensorBytes);
    }
  }

  double OneWaySeconds() {
    std::vector<double> seconds;
    pool_.Run(kBoth, [&](int worker) {
      for (int series = 0; series < kSeries; ++series) {
        barrier_.Meet(2);
        const Clock::time_point start = Clock::now();
        for (int trip = series * kRoundTrips; trip < (series + 1) * kRoundTrips; ++trip) {
          if (worker == 0) flag_.store(2 * trip + 1, std::memory_order_release);
          const int awaited = worker == 0 ? 2 * trip + 2 : 2 * trip + 1;
          while (flag_.load(std::memory_order_acquire) < awaited) {
          }
          if (worker == 1) flag_.store(2 * trip + 2, std::memory_order_release);
        }
        if (worker == 0) seconds.push_back(Since(start) / (2 * kRoundTrips));
      }
    });
    return Quantile(seconds, 0);
  }

  // Of copying a tensor to and fro. `crossing`: every time the half that the other worker has just written.
  double CopySeconds(bool crossing) {
    std::vector<double> seconds;
    pool_.Run(kBoth, [&](int worker) {
      for (int copy = 0; copy < kSeries; ++copy) {
        const int half = crossing ? (worker + copy) % 2 : worker;
        const std::size_t at = half == 0 ? 0 : kHalf;
        const float* const from = Floats(copy) + at;
        float* const to = Floats(copy + 1) + at;
        barrier_.Meet(2);
        const Clock::time_point start = Clock::now();
        // As kernels store, one vector after the other: the C library's copies need not fetch what they write over.
        for (std::size_t i = 0; i < kHalf; ++i) to[i] = from[i] + 1.0F;
        barrier_.Meet(2);
        if (worker == 0) seconds.push_back(Since(start));
      }
    });
    return Median(seconds);
  }

 private:
  static constexpr std::array<int, 2> kBoth{0, 1};

  float* Floats(int tensor) const { return reinterpret_cast<float*>(tensors_[tensor % 2].get()); }

  WorkerPool pool_;
  PhaseBarrier barrier_;
  alignas(64) std::atomic<int> flag_{0};
  alignas(64) std::array<std::shared_ptr<std::byte>, 2> tensors_;
};

double OfAMegabyte(const DefaultLink& link) { return link.latency_seconds + 1e6 / link.bandwidth; }

bool Alike(const DefaultLink& a, const DefaultLink& b) {
  const double first = OfAMegabyte(a), second = OfAMegabyte(b);
  return std::max(first, second) < kAlike * std::min(first, second);
}

// Pairs of positions in `units`, by how much they share.
std::map<int, std::vector<std::pair<std::size_t, std::size_t>>> Classes(std::size_t units,
                                                                        std::span<const int> shared_depths) {
  std::map<int, std::vector<std::pair<std::size_t, std::size_t>>> classes;
  for (std::size_t a = 0; a < units; ++a) {
    for (std::size_t b = a + 1; b < units; ++b) classes[shared_depths[a * units + b]].emplace_back(a, b);
  }
  return classes;
}

// Some pairs of a class, spread over it.
DefaultLink MeasuredOf(const std::vector<std::pair<std::size_t, std::size_t>>& pairs, std::span<const int> units,
                       const HandOverMeter& meter) {
  std::vector<double> latency, seconds_per_byte;
  const std::size_t asked = std::min(kPairsOfAClass, pairs.size());
  for (std::size_t i = 0; i < asked; ++i) {
    const auto [a, b] = pairs[i * pairs.size() / asked];
    const DefaultLink link = meter(units[a], units[b]);
    latency.push_back(link.latency_seconds);
    seconds_per_byte.push_back(1 / link.bandwidth);
  }
  return {Median(latency), 1 / Median(seconds_per_byte)};
}

}  // namespace

DefaultLink MeasureHandOver(int processor, int other) {
  Pair pair(processor, other);
  // The first copies find both tensors in nobody's cache.
  pair.CopySeconds(false);
  const double latency = pair.OneWaySeconds();
  const double longer = pair.CopySeconds(true) - pair.CopySeconds(false);
  constexpr double kMostBandwidth = 1e12;
  return {latency, std::min(kMostBandwidth, static_cast<double>(kTensorBytes) / std::max(longer, 1e-9))};
}

bool AlikeHandOvers(double seconds, double other) {
  return seconds == other || std::max(seconds, other) < 2 * std::min(seconds, other);
}

Machine WithHandOvers(Machine machine, std::span<const int> units, std::span<const int> shared_depths,
                      const HandOverMeter& meter) {
  const auto classes = Classes(units.size(), shared_depths);
  std::map<int, DefaultLink> of_class;
  std::size_t most = 0;
  for (const auto& [depth, pairs] : classes) {
    of_class[depth] = MeasuredOf(pairs, units, meter);
    if (pairs.size() < most) continue;
    most = pairs.size();
    machine.default_link = of_class[depth];
  }
  if (classes.size() < 2 || units.size() > kMostLinkedUnits) return machine;

  // The least that two devices share; nothing where they share a unit.
  const auto position = [&](int unit) {
    return static_cast<std::size_t>(std::ranges::find(units, unit) - units.begin());
  };
  const auto least_shared = [&](const Device& from, const Device& to) {
    std::optional<int> least;
    for (const int a : from.units) {
      for (const int b : to.units) {
        if (a == b) return std::optional<int>();
        const int depth = shared_depths[position(a) * units.size() + position(b)];
        least = std::min(least.value_or(depth), depth);
      }
    }
    return least;
  };
  for (std::size_t from = 0; from < machine.devices.size(); ++from) {
    for (std::size_t to = 0; to < machine.devices.size(); ++to) {
      if (from == to) continue;
      const std::optional<int> depth = least_shared(machine.devices[from], machine.devices[to]);
      if (!depth || Alike(of_class[*depth], *machine.default_link)) continue;
      machine.links.push_back({static_cast<int>(from), static_cast<int>(to), of_class[*depth].latency_seconds,
                               of_class[*depth].bandwidth, std::nullopt});
    }
  }
  return machine;
}

Machine WithMeasuredHandOvers(Machine machine) {
  if (!GuessesHandOvers(machine)) return machine;
  const std::vector<int> units = UnitsOf(machine);
  return WithHandOvers(std::move(machine), units, SharedDepths(units), MeasureHandOver);
}

}  // namespace millrace
