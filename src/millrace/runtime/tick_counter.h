// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

// The cheapest clock there is: on x86 the time-stamp counter, which runs at one rate on all processors and is read in a
// third of the time of a call to the steady clock; elsewhere the steady clock in nanoseconds. Ticks have no unit: who
// counts them reads the steady clock at the beginning and the end and scales.
namespace millrace {

inline std::uint64_t ReadTicks() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

}  // namespace millrace
