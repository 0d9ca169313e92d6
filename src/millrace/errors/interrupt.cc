// SPDX-License-Identifier: Apache-2.0
#include "millrace/errors/interrupt.h"

#include <atomic>
#include <csignal>

#include "millrace/errors/errors.h"

namespace millrace {
namespace {

std::atomic<bool> requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may touch lock-free atomics only");

extern "C" void OnInterrupt(int signal) {
  requested.store(true);
  std::signal(signal, SIG_DFL);
}

}  // namespace

void WatchForInterrupt() {
  std::signal(SIGINT, OnInterrupt);
  std::signal(SIGTERM, OnInterrupt);
}

bool InterruptRequested() { return requested.load(); }

void StopIfInterrupted() {
  if (InterruptRequested()) throw Interrupted();
}

}  // namespace millrace
