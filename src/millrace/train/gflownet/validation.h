// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "millrace/gflownet/policy/policy.h"
#include "millrace/train/gflownet/problems.h"

// How good a policy's samples are on problems it has never seen: always the same ones, so that trainings compare.
namespace millrace {

// Problems of one kind.
struct ValidationCell {
  std::string name;
  std::vector<std::unique_ptr<Problem>> problems;
};

// A small grid over families, sizes, machines and CCR; most of it where HEFT leaves room.
std::vector<ValidationCell> MakeValidationGrid(int graphs_per_cell);

// Means over problems of (makespan of HEFT) / (makespan of the sampler's plan): above 1 is better than HEFT.
struct ValidationScore {
  std::string cell;  // empty: over all
  double temperature = 0;
  double best = 0;       // of the samples
  double mean = 0;       // makespan of the samples
  double greedy = 0;     // the most likely plan
  double resampled = 0;  // best of window resampling with as many samples: what ships
  double wins = 0;       // share of the problems where the best beats HEFT
  double different = 0;  // share of the samples that are different plans (gflownet/sampling/plan_set.h)
  double distance = 0;   // ChainEditDistance of a sample to the next
};

// By temperature: each cell, then all. The same at any number of threads.
std::vector<ValidationScore> Validate(const Policy& policy, const std::vector<ValidationCell>& grid,
                                      const std::vector<double>& temperatures, int samples, int threads);

// The score over all problems at the temperature where resampling does best.
const ValidationScore& Overall(const std::vector<ValidationScore>& scores);

}  // namespace millrace
