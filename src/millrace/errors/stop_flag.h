// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

// Asking one work to stop, in a program that does several beside each other or handles signals itself: a library's
// caller. Ctrl-C (interrupt.h) asks all work of a process.
namespace millrace {

// Set, from any thread, to ask the work that listens to it to stop.
using StopFlag = std::atomic<bool>;

// As long as it lives, InterruptRequested and StopIfInterrupted of this thread heed the flag, too, which must outlive
// it. Whoever starts threads for the work of his own has them heed the same flag. Null: none.
class StopScope {
 public:
  explicit StopScope(const StopFlag* flag);
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;
  ~StopScope();

  // The flag that this thread heeds; null where there is none.
  static const StopFlag* Here();

 private:
  const StopFlag* before_;
};

}  // namespace millrace
