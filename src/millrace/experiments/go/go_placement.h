// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "millrace/experiments/go/go_methods.h"
#include "millrace/experiments/go/go_record.h"
#include "millrace/experiments/table.h"
#include "millrace/workloads/go_workloads.h"

// GO's table of placements once more: seconds of a training step under contention, by workload and method.
namespace millrace {

struct GoResult {
  std::vector<GoWorkload> workloads;
  std::vector<std::string> methods;
  std::vector<std::string> budgets;                           // by method
  std::vector<double> lower_bounds;                           // by workload, of any fusion
  std::vector<std::vector<std::vector<GoOutcome>>> outcomes;  // by workload, method, seed; one where not seeded
};

// Wall time is that of planning alone. The method may take so many seconds.
GoOutcome JudgeGoMethod(const GoRow& row, const GoMethod& method, std::uint64_t seed, std::optional<double> seconds);

// The seed of the i-th answer. Whatever a run is told, its answers have streams of their own.
std::uint64_t GoSeed(std::uint64_t seed, int i);

// Workload by workload, method after method; `seeds` answers of those that have seeds. What the record has is not asked
// again, what it has not it is given.
GoResult RunGo(const std::vector<GoWorkload>& workloads, const std::vector<GoMethod>& methods, int seeds,
               std::uint64_t seed, GoRecord& record, const std::function<void(int, int)>& progress);

// "seconds": a row per workload, a column per method: mean over seeds of the plans that fit; OOM where none does.
// "against NAME", one for each subject: a row per method X other than it: 1 - geometric mean of T_subject / T_X over
// the workloads where both fit, its interval, on how many workloads the subject is faster, where X is OOM; what each
// may spend and the mean seconds that planning took it. "wall": these by workload. Throws InvalidInput for a subject
// that is no method.
std::vector<Table> GoTables(const GoResult& result, const std::vector<std::string>& subjects);

}  // namespace millrace
