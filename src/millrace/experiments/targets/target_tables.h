// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "millrace/experiments/table.h"
#include "millrace/experiments/targets/on_targets.h"

// What came of methods on targets, as tables.
namespace millrace {

// Names begin with `prefix`.
//
// "speedups": by method its budget, and by target the speedup of the best plan there, mean over graphs, then mean and
// standard deviation over seeds; the mean proxy speedup of all plans handed on; their diversity; wall time.
// "worst": by method and target the least ratio of its speedup to that of the method `heft`, over graphs and seeds.
// "verdicts": by contender and target: first, tied (within one standard deviation, the larger of the two) or behind the
// best of the methods that are no contenders.
// "by family": the proxy's column of "speedups" for each family of graphs, and the diversity.
// "graphs": everything, for programs.
std::vector<Table> TargetTables(const OnTargetsResult& result, const std::string& prefix);

}  // namespace millrace
