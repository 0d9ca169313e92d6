// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/gflownet/environment/graph_features.h"
#include "millrace/gflownet/environment/reward.h"
#include "millrace/gflownet/policy/policy.h"
#include "millrace/gflownet/sampling/sampler.h"
#include "millrace/random/random.h"
#include "millrace/train/gflownet/objective.h"
#include "millrace/train/gflownet/state_steps.h"

// The trajectories of one problem at one reward temperature, with all that the network and the objective need of them.
// An update learns from several such batches.
namespace millrace {

struct BatchSettings {
  int trajectories = 32;
  double recorded_share = 0.25;   // of steps, for the gradient
  int most_recorded_steps = 512;  // about: on large graphs the share is lower
  double epsilon = 0;
  RewardForm reward = RewardForm::kSizeScaled;
  bool states = false;    // for a network that encodes them: every step is recorded, whatever the share above
  bool removals = false;  // with the removable groups of states, for a network that learns P_B
};

struct TrajectoryBatch {
  GraphFeatures graph;
  StepBatch steps;
  StateSteps states;            // empty unless asked for
  SampledTrajectories sampled;  // its steps are left null: the batch has them
  double temperature = 1;
  bool demonstration = false;  // of given plans, to be imitated; else sampled from the policy
  double mean_ratio = 0;       // (makespan of HEFT) / (mean makespan of the trajectories)
  double best_ratio = 0;       // likewise of the best
};

// Samples from the policy, which is prepared at this temperature. Returns the trajectories beside the batch.
std::vector<Trajectory> SampleBatch(const Environment& environment, const PreparedPolicy& policy, double temperature,
                                    const BatchSettings& settings, const Random& random, TrajectoryBatch& batch);

// The same with draws of one window of the plan, which is a problem of its own: its steps are all that the batch knows.
// Networks that encode states are not trained by windows.
std::vector<Trajectory> SampleWindowBatch(const Environment& environment, const PreparedPolicy& policy,
                                          double temperature, const BatchSettings& settings, const Assignment& plan,
                                          Window window, const Random& random, TrajectoryBatch& batch);

// A batch of given ways to build plans, at least one. `settings.trajectories` and `epsilon` do not matter.
void MakeDemonstrationBatch(const Environment& environment, const PreparedPolicy& policy, double temperature,
                            const std::vector<std::vector<Action>>& actions, const BatchSettings& settings,
                            const Random& random, TrajectoryBatch& batch);

}  // namespace millrace
