// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "millrace/planning/best_of.h"
#include "millrace/simulate/narrowed.h"

// An exact search that divides the problem where transfers are dear. Seconds.
//
// A part is the problem with some pairs of groups tied to one device and some kept apart (simulate/narrowed.h). It is
// searched a while, forwards and backwards (exact_engine.h); if that does not end, it is split in two by the pair of
// groups whose transfer, if it is made, leaves the least time: tied, and apart.
namespace millrace {

class ExactParts {
 public:
  // Looks for plans that take less than `limit`; makespans are multiples of `step` (0: of nothing).
  ExactParts(Narrowed whole, double limit, double step, std::int64_t nodes_of_a_part = 2000);

  // One round: works on several parts at once, each for so many nodes. What is found does not depend on the threads.
  // stop() ends it early.
  void Round(int threads, const std::function<bool()>& stop);

  void LowerLimit(double limit);

  bool done() const { return parts_.empty(); }
  std::int64_t nodes() const { return nodes_; }
  const std::optional<RatedAssignment>& best() const { return best_; }

  // No plan takes less, unless it takes no less than the limit or than best().
  double OpenBound() const;

 private:
  struct Part {
    Narrowed problem;
    std::int64_t nodes = 0;  // it may be searched for
  };
  struct Outcome {
    bool done = false;
    std::vector<Part> halves;
    std::optional<RatedAssignment> best;
    std::int64_t nodes = 0;
  };

  double LimitBelow(const Outcome& outcome) const;  // what plans must stay below from then on
  Outcome Work(const Part& part, const std::function<bool()>& stop) const;

  double limit_;
  double step_;
  std::vector<Part> parts_;  // the last one is worked on first
  std::int64_t nodes_ = 0;
  std::optional<RatedAssignment> best_;
};

}  // namespace millrace
