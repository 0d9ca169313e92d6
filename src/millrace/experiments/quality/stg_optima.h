// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "millrace/experiments/quality/optimality.h"
#include "millrace/experiments/table.h"

// The Standard Task Graph set against its published optima: no communication, 2 to 16 equal processors. Seconds.
namespace millrace {

// `folder` holds optimal.csv (lines FILE,PROCESSORS,MAKESPAN) and the graphs it names (formats/stg.h). Quick: every
// ninth line. "stg": by tasks and processors, how many are proven, how many of these exceed LowerBound, how many
// published optima are reached. "published": lines whose published makespan is above what was found or below what was
// proven. Throws InvalidInput: no such file, or one that cannot be read.
std::vector<Table> StgTables(const std::string& folder, const OptimalityOptions& options,
                             const std::function<void(int, int)>& progress);

}  // namespace millrace
