// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

// How workers wait for each other: they spin for some tens of microseconds, which is what a wake-up costs, and then
// park, so that a worker with nothing to do leaves its processor to others.
namespace millrace {

// A count that one side raises and others wait for. What was written before a raise is seen after the wait. Has a cache
// line of its own, so that waiting for one worker does not slow another.
class alignas(64) Progress {
 public:
  std::uint32_t value() const { return value_.load(std::memory_order_acquire); }

  // Only while nobody waits.
  void Reset() { value_.store(0, std::memory_order_relaxed); }

  // Sequentially consistent, all of them: the wake-up is skipped where nobody is parked, and whether anybody is must be
  // asked after the new count stands.
  void RaiseTo(std::uint32_t value) {
    value_.store(value);
    value_.notify_all();
  }
  std::uint32_t RaiseByOne() {
    const std::uint32_t raised = value_.fetch_add(1) + 1;
    value_.notify_all();
    return raised;
  }

  // Returns once the count is `least` or more; counts may wrap around.
  void Await(std::uint32_t least) const {
    if (!Reached(value(), least)) SpinThenPark(least);
  }

 private:
  static bool Reached(std::uint32_t value, std::uint32_t least) {
    return static_cast<std::int32_t>(value - least) >= 0;
  }
  void SpinThenPark(std::uint32_t least) const;

  std::atomic<std::uint32_t> value_{0};
};

// Holds the workers of a gang together between two phases of a kernel.
class PhaseBarrier {
 public:
  // Only while nobody waits.
  void Reset() { arrived_.Reset(); }

  // Returns once all `workers` have come.
  void Meet(std::uint32_t workers) {
    const std::uint32_t ticket = arrived_.RaiseByOne() - 1;
    arrived_.Await(ticket - ticket % workers + workers);
  }

 private:
  Progress arrived_;
};

}  // namespace millrace
