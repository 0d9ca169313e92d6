// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "millrace/planning/planner.h"

// The biased random-key genetic algorithm, the usual search baseline of learned schedulers.
//
// A population of key vectors (random_key_decoder.h), each as good as the makespan of the plan it decodes to; on a
// machine with memory limits, those that fit come before those that do not. A generation keeps the elite, adds mutants
// (fresh random keys), and fills up with children: each key from an elite parent with probability `bias`, else from one
// of the rest.
// Source: Goncalves, Resende, "Biased random-key genetic algorithms for combinatorial optimization", Journal of
// Heuristics 2011.
namespace millrace {

struct BrkgaOptions {
  int population = 100;
  double elite = 0.2;     // share of the population
  double mutants = 0.15;  // share of the population
  double bias = 0.7;
  bool start_from_heft = true;       // the first generation has HEFT's plan among random ones
  std::int64_t visits = 50'000'000;  // of groups and edges by decoding, where the budget names neither limit
};

// The planner `brkga`: offers its whole last population, best first, so plans near the end may repeat. Budget:
// `iterations` plans decoded, the first population not counted, in whole generations; or `seconds`. Where more
// `samples` are asked for than the population has, it grows to them, up to 10,000.
PlannerTraits BrkgaTraits();
std::unique_ptr<Planner> MakeBrkga(const BrkgaOptions& options = {});

}  // namespace millrace
