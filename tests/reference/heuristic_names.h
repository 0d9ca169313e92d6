// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "millrace/heuristics/heuristics.h"

namespace millrace::testing {

// Of every heuristic, in the order of reports.
inline std::vector<std::string> HeuristicNames() {
  PlannerRegistry heuristics;
  AddHeuristics(heuristics);
  return heuristics.Names();
}

}  // namespace millrace::testing
