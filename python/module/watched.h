// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "millrace/optimize/optimize.h"

// Work that takes a while, as Python wants it: the interpreter's lock is free meanwhile, Ctrl-C is answered, progress
// is told on the thread that asked for the work.
namespace millrace::python {

// What work says of how far it is, from any thread. What nobody could tell from what follows at once is left out.
using Reporter = std::function<void(const OptimizeStep&)>;

// A step as it is handed to Python.
struct Progress {
  std::string stage;
  std::string method;                  // empty where none is at work
  double done = 0;                     // share of the whole, 0 to 1
  std::optional<double> seconds_left;  // where time is limited
};

// Runs the work on a thread of its own. Every 50 ms handlers of signals run, and `progress`, unless it is None, is
// called with what was said. What either raises asks the work to stop and is thrown once it has, or after a second: the
// work then goes on to its next safe place alone, so it must own all it refers to, and nothing of Python. Otherwise
// throws what the work threw. Called with the interpreter's lock held.
void RunWatched(std::function<void(const Reporter&)> work, const pybind11::object& progress);

// The same of work with a result.
template <typename Work>
auto Watched(Work work, const pybind11::object& progress = pybind11::none()) {
  auto result = std::make_shared<std::optional<std::invoke_result_t<Work, const Reporter&>>>();
  RunWatched([work = std::move(work), result](const Reporter& report) mutable { result->emplace(work(report)); },
             progress);
  return *std::move(*result);
}

}  // namespace millrace::python
