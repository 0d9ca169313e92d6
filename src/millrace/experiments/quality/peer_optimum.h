// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "millrace/experiments/quality/optimality.h"
#include "millrace/experiments/table.h"

// The optima of small problems by somebody else's solver: a constraint model in MiniZinc, solved by Gecode, where the
// program `minizinc` is installed (Nethercote et al., "MiniZinc: towards a standard CP modelling language", 2007).
namespace millrace {

bool MiniZincIsInstalled();

// The constraint model, in the solver's language: devices, starts, transfers between devices, no two groups at once on
// one. Times are whole numbers.
std::string MiniZincModel();

// "minizinc": 8, 12 and 16 ops on 2, 3 and 1 + 1 devices at CCR 0.1, 1 and 10, all times whole numbers of milliseconds;
// both optima and both times. A solver that does not end within a minute says nothing. Writes its files to `folder`.
// Throws WorkFailed where two proven optima differ.
std::vector<Table> MiniZincTables(const std::string& folder, const OptimalityOptions& options,
                                  const std::function<void(int, int)>& progress);

}  // namespace millrace
