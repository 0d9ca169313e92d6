// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

// A run that counts, as if the model had been run again and again before. Seconds.
namespace millrace {

// What threads that sleep need to be awake and caches to be as they are in the midst of runs.
inline constexpr double kSettlingSeconds = 2e-3;

// Runs so long that settling is nothing beside them.
inline constexpr double kLongRunSeconds = 0.05;

// `run` is one run and returns its time, `last_seconds` that of the last one. Short ones run for a moment that is not
// counted first. The same for every engine that runs models, so that none is measured cold beside one that is not.
template <typename Run>
double SettledRun(double last_seconds, const Run& run) {
  if (last_seconds < kLongRunSeconds) {
    for (double gone = 0; gone < kSettlingSeconds;) gone += std::max(run(), 1e-7);
  }
  return run();
}

}  // namespace millrace
