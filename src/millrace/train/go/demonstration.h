// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "millrace/random/random.h"
#include "millrace/train/go/problem.h"

// Good decisions to imitate, which a search under contention finds. Times are seconds.
//
// Source: Anthony, Tian, Barber, "Thinking Fast and Slow with Deep Learning and Tree Search", 2017 (expert iteration).
namespace millrace {

struct DemonstrationOptions {
  std::int64_t evaluations = 1000;
  std::optional<double> seconds;     // wall time
  const Decisions* start = nullptr;  // whose fusion is kept; none: greedy fusion, and the search's own starts
  bool order_is_decided = false;     // the order of readiness, which has no levels, is no answer
};

struct GoDemonstration {
  KnownDecisions known;
  std::int64_t evaluations = 0;  // of plans, that finding it took
};

// The decisions behind the plan that a search under contention finds (search/placement_search.h) within so many
// evaluations. Symmetric devices are renamed so that their work comes in the order of their numbers, because the order
// of their numbers is all that tells them apart. They are not renamed where the plan would take more than a little
// longer, with a start any longer. Never worse than the start.
GoDemonstration SearchDemonstration(const GoTrainingProblem& training, const DemonstrationOptions& options,
                                    Random& random);

}  // namespace millrace
