// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

// How far a search has come.
namespace millrace {

// From 0 to 1 and beyond: by steps, by the clock since it was made, or by whichever is further along where both are
// limited.
class Course {
 public:
  Course(std::optional<std::int64_t> steps, std::optional<double> seconds)
      : steps_(steps), seconds_(seconds), start_(std::chrono::steady_clock::now()) {}

  // Before the given step.
  double Done(std::int64_t step) const {
    const double stepped = !steps_ ? 0 : step >= *steps_ ? 1 : static_cast<double>(step) / static_cast<double>(*steps_);
    return std::max(stepped, TimeGone());
  }

  // The share of the time; 0 where it is not limited.
  double TimeGone() const {
    if (!seconds_) return 0;
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count() / std::max(*seconds_, 1e-9);
  }

 private:
  std::optional<std::int64_t> steps_;
  std::optional<double> seconds_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace millrace
