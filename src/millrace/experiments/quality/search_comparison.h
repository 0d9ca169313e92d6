// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "millrace/experiments/quality/quality.h"
#include "millrace/planning/registry.h"

// Planners held against plain annealing at equal wall time, over families of graphs that tuning may see or may not.
// Seconds.
namespace millrace {

struct SearchGrid {
  std::vector<std::string> families;
  std::vector<int> ops = {60, 200, 1000};
  std::vector<std::string> devices = {"4", "8", "2+2"};  // as QualityInstance has them, digits 1 to 9
  std::vector<double> ccr = {0.2, 1, 5};
  int graphs = 2;  // of each cell
};

// Every combination; graph seeds from kQualitySeed + 600'000. Task graphs have the size of their family that is
// nearest. Throws InvalidInput for a value out of range.
std::vector<QualityInstance> SearchInstances(const SearchGrid& grid);

// What is compared where no methods are named: planners of a pool that search as long as they are let, and need given
// groups.
std::vector<std::string> SearchNames(const PlannerRegistry& planners);

// "anneal-plain-1s", "brkga-1s", ... for every number of seconds; plain annealing first, whether named or not. Samplers
// draw until the time is over. Throws InvalidInput for a method that the registry has not or that answers at once.
std::vector<QualityMethod> SearchMethods(const std::vector<std::string>& names, const std::vector<double>& seconds,
                                         const PlannerRegistry& planners);

// "overall", "by family", "by ops": plain annealing's makespan / own (geometric mean with the interval of 95 %) and the
// shares of instances on which a method is faster, equal (within a billionth) and slower, against that of the same
// seconds. "instances": every makespan, for programs.
std::vector<Table> SearchTables(const QualityResult& result);

}  // namespace millrace
