// SPDX-License-Identifier: Apache-2.0
#include "millrace/rollout/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace millrace {

void RunInParallel(int count, int threads, const std::function<void(int)>& work) {
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(count));
  std::atomic<int> next = 0;
  const auto serve = [&] {
    for (int task = next++; task < count; task = next++) {
      try {
        work(task);
      } catch (...) {
        failures[static_cast<std::size_t>(task)] = std::current_exception();
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
