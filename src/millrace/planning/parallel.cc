// SPDX-License-Identifier: Apache-2.0
#include "millrace/planning/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace millrace {

void RunInParallel(int count, int threads, const std::function<void(int)>& work,
                   const std::function<void(int, int)>& progress) {
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(count));
  std::atomic<int> next = 0;
  std::mutex reporting;
  int done = 0;
  const auto serve = [&] {
    for (int task = next++; task < count; task = next++) {
      try {
        work(task);
        if (!progress) continue;
        const std::lock_guard lock(reporting);
        progress(++done, count);
      } catch (...) {
        failures[static_cast<std::size_t>(task)] = std::current_exception();
        next = count;  // passes of lower numbers have all begun
      }
    }
  };
  std::vector<std::thread> others;
  for (int i = 1; i < std::min(threads, count); ++i) others.emplace_back(serve);
  serve();
  for (std::thread& other : others) other.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace millrace
