// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/parallel_tasks.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace millrace {

void RunTasks(std::size_t count, int threads, const std::function<void(std::size_t)>& task,
              const std::function<void(int, int)>& progress) {
  std::atomic<std::size_t> next{0};
  std::mutex reporting;
  int done = 0;
  std::exception_ptr failure;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        task(i);
      } catch (...) {
        const std::lock_guard<std::mutex> lock(reporting);
        if (!failure) failure = std::current_exception();
        next = count;
        return;
      }
      const std::lock_guard<std::mutex> lock(reporting);
      progress(++done, static_cast<int>(count));
    }
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace millrace
