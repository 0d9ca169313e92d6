// SPDX-License-Identifier: Apache-2.0
#include "millrace/planning/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "millrace/errors/stop_flag.h"

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
  const auto serve_beside = [&serve, flag = StopScope::Here()] {
    const StopScope scope(flag);
    serve();
  };
  std::vector<std::thread> others;
  const int wanted = std::min(threads, count) - 1;
  others.reserve(static_cast<std::size_t>(std::max(wanted, 0)));
  try {
    for (int i = 0; i < wanted; ++i) others.emplace_back(serve_beside);
  } catch (const std::system_error&) {
    // Where there can be no more threads, those there are do all of it.
  }
  serve();
  for (std::thread& other : others) other.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace millrace
