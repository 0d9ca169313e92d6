// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "millrace/gflownet/policy/policy.h"
#include "millrace/gflownet/sampling/exact_flow.h"
#include "millrace/random/random.h"
#include "millrace/train/gflownet/problems.h"
#include "millrace/train/torch/settings_table.h"

// Problems so small that all plans of them are known, to train on by their exact flow and to validate on by how far a
// policy is from drawing in proportion to the reward.
namespace millrace {

// The rows of TableOf say what each means.
struct ExactProblemSettings {
  int fewest_plans = 100;
  int most_plans = 2000;
  int temperatures = 3;
};

SettingsTable TableOf(ExactProblemSettings& settings);

struct ExactProblem {
  std::unique_ptr<Problem> problem;
  StateGraph states;
};

// Draws until a problem has as many plans as the settings say. Throws InvalidInput where a thousand have not.
ExactProblem DrawExactProblem(const ProblemSource& source, const ExactProblemSettings& settings, Random& random);

// Always the same problems of a source and settings; no training draws from here.
std::vector<ExactProblem> MakeExactValidation(const ProblemSource& source, const ExactProblemSettings& settings,
                                              int problems);

// Over problems at one reward temperature: how far the policy's plans are from R / Z.
struct ExactnessScore {
  double temperature = 0;
  double mean = 0;  // of the total variation
  double worst = 0;
  double divergence = 0;  // KL(P || R / Z) in nats, in the mean
};

// The same at any number of threads.
std::vector<ExactnessScore> ScoreExactness(const Policy& policy, const std::vector<ExactProblem>& problems,
                                           const std::vector<double>& temperatures, RewardForm reward, int threads);

}  // namespace millrace
