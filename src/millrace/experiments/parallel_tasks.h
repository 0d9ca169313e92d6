// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

// Independent pieces of an experiment, several at once.
namespace millrace {

// Calls task(i) for i in 0..count-1, each on one thread, at most `threads` at a time; progress(done, total) after each,
// never two at once. The first exception ends it and is passed on.
void RunTasks(std::size_t count, int threads, const std::function<void(std::size_t)>& task,
              const std::function<void(int, int)>& progress);

}  // namespace millrace
