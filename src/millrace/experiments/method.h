// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "millrace/heuristics/best_of.h"
#include "millrace/heuristics/candidate_source.h"

// The ways of getting plans that experiments hold against each other: a candidate source, what it may spend, and how
// many of its plans go on. Seconds.
namespace millrace {

struct Method {
  std::string name;
  std::shared_ptr<const CandidateSource> source;
  SourceBudget budget;
  std::size_t keep = 1;       // plans that go on, chosen by the proxy
  double least_distance = 0;  // above 0, of those that are alike only the best: see optimize/different.h
};

struct Answer {
  std::vector<RatedAssignment> plans;  // at most `keep`, ascending by proxy; fit in memory
  std::int64_t offered = 0;
  double seconds = 0;  // wall time, choosing included
};

// Shows the source `shown` and rates what it offers by `judged`; both have the same groups and devices, and are the
// same thing unless a method is to be fooled or told more than others.
Answer Ask(const Method& method, const CostedGraph& shown, const CostedGraph& judged, Random& random);

}  // namespace millrace
