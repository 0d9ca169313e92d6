// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "millrace/planning/deadline.h"

// How far a search has come.
namespace millrace {

// From 0 to 1 and beyond: by steps, by the clock since it was made, or by whichever is further along where both are
// limited.
class Course {
 public:
  Course(std::optional<std::int64_t> steps, std::optional<double> seconds) : steps_(steps), deadline_(seconds) {}

  // Before the given step.
  double Done(std::int64_t step) const {
    const double stepped = !steps_ ? 0 : step >= *steps_ ? 1 : static_cast<double>(step) / static_cast<double>(*steps_);
    return std::max(stepped, deadline_.Gone());
  }

  // The share of the time; 0 where it is not limited.
  double TimeGone() const { return deadline_.Gone(); }

 private:
  std::optional<std::int64_t> steps_;
  Deadline deadline_;
};

}  // namespace millrace
