// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/progress.h"

#include <chrono>

namespace millrace {
namespace {

constexpr std::chrono::microseconds kSpinTime{50};
constexpr int kLooksPerClock = 16;  // the clock costs about as much as a pause

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

void Progress::SpinThenPark(std::uint32_t least) const {
  const auto deadline = std::chrono::steady_clock::now() + kSpinTime;
  do {
    for (int look = 0; look < kLooksPerClock; ++look) {
      if (Reached(value(), least)) return;
      Pause();
    }
  } while (std::chrono::steady_clock::now() < deadline);
  for (std::uint32_t seen = value(); !Reached(seen, least); seen = value()) {
    value_.wait(seen, std::memory_order_acquire);
  }
}

}  // namespace millrace
