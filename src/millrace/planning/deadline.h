// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>

// How much wall time something may still take: the one clock of planners and pipeline. Seconds.
namespace millrace {

class Deadline {
 public:
  // Starts the clock; without a limit it never passes.
  explicit Deadline(std::optional<double> limit = std::nullopt)
      : start_(std::chrono::steady_clock::now()), limit_(limit.value_or(std::numeric_limits<double>::infinity())) {}

  double Elapsed() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  double Left() const { return std::max(0.0, limit_ - Elapsed()); }
  bool Passed() const { return Limited() && Elapsed() >= limit_; }
  bool Limited() const { return limit_ < std::numeric_limits<double>::infinity(); }

  // The share of the time that is gone, 0 and up; 0 without a limit.
  double Gone() const { return Limited() ? Elapsed() / std::max(limit_, 1e-9) : 0; }

  // A deadline of its own that ends after `seconds`, or with this one if that is sooner.
  Deadline Within(double seconds) const { return Deadline(std::min(seconds, Left())); }

 private:
  std::chrono::steady_clock::time_point start_;
  double limit_;
};

}  // namespace millrace
