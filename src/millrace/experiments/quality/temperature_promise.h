// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "millrace/experiments/quality/quality_grid.h"
#include "millrace/experiments/table.h"
#include "millrace/planning/registry.h"

// Whether a planner keeps the promise of the reward temperature: graph by graph, the higher it is the longer plans take
// in the mean, and the more they differ.
namespace millrace {

struct PromiseOptions {
  std::string planner = "gflownet";
  std::vector<double> temperatures;   // two at least
  std::vector<std::string> families;  // words as of FamiliesOf (families.h)
  std::vector<int> ops = {30, 60, 120, 300};
  std::vector<std::string> devices = {"4", "8", "2+2"};
  std::vector<double> ccr = {0.2, 1, 5};
  std::int64_t samples = 200;  // of each graph at each temperature
  std::uint64_t seed = 0;
  int threads = 1;  // graphs at once
};

// What plans of one graph at one temperature are like.
struct PromisePoint {
  double mean = 0;      // makespan over that of the better HEFT
  double best = 0;      // likewise of the best
  double distance = 0;  // mean edit distance of two plans, 0..1
};

struct PromiseResult {
  std::vector<double> temperatures;  // ascending
  std::vector<QualityInstance> instances;
  std::vector<std::vector<PromisePoint>> points;  // by instance, by temperature
};

// A graph of each cell, seeds from kQualitySeed + 800'000. Throws InvalidInput for temperatures that the planner
// refuses, Interrupted.
PromiseResult TestPromise(const PromiseOptions& options, const PlannerRegistry& planners,
                          const std::function<void(int, int)>& progress);

// Does it rise from each to the next? Falling by no more than a billionth counts as rising.
bool Rises(const std::vector<double>& values);

// "promise": over all graphs and by CCR, ops and devices the share on which the mean makespan rises with every step of
// the temperature, the distance does, and both, with the interval of 95 % of the last. "promise by temperature": means
// over graphs.
std::vector<Table> PromiseTables(const PromiseResult& result);

}  // namespace millrace
