// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "millrace/machine/machine.h"
#include "millrace/optimize/candidate.h"
#include "millrace/optimize/pool.h"

// Which candidates are worth measuring. A proxy is wrong in the same way for plans that are alike, so the few that go
// to the target should be good and different.
namespace millrace {

struct SelectOptions {
  std::size_t top_k = 16;
  double least_distance = 0.05;  // below it two plans count as one, 0..1
};

// At most top_k entries of the pool, best by proxy first: walking down from the best, one is taken when it is at least
// least_distance away from every taken one with the same groups; places left over are filled by proxy alone, without
// repeated plans. Distance: the larger of the chain edit distance (plan/distance.h) and the share of groups on a device
// of another kind, so plans that differ by the names of equal devices are one. Deterministic: ties keep the pool's
// order.
std::vector<Candidate> SelectDiverse(const Pool& pool, const Machine& machine, const SelectOptions& options);

}  // namespace millrace
