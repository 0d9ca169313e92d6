// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/machine/machine.h"
#include "millrace/optimize/candidate.h"
#include "millrace/optimize/pool.h"
#include "millrace/planning/deadline.h"
#include "millrace/planning/diverse.h"

// Which candidates are worth measuring.
namespace millrace {

// At most options.keep entries of the pool that are good and different (planning/diverse.h), best by proxy first,
// without repeated plans. Plans with different groups are as far apart as can be; else the distance is the larger of
// the chain edit distance (plan/distance.h) and the share of groups on a device of another kind, so plans that differ
// by the names of equal devices are one. Deterministic: ties keep the pool's order. From the deadline on plans count as
// different unexamined. `judged`, by entry, stands for the proxy's seconds where it is not empty.
std::vector<Candidate> SelectDiverse(const Pool& pool, const Machine& machine, const DiverseOptions& options,
                                     const Deadline& deadline = Deadline(), const std::vector<double>& judged = {});

}  // namespace millrace
