// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "millrace/gflownet/environment/environment.h"
#include "millrace/gflownet/policy/policy.h"
#include "millrace/gflownet/sampling/step_batch.h"
#include "millrace/gflownet/sampling/window.h"
#include "millrace/plan/plan.h"
#include "millrace/random/random.h"

// Draws trajectories from a policy. A trajectory is a whole plan, built step by step.
namespace millrace {

struct SamplerOptions {
  double softmax_temperature = 1;  // > 0: logits are divided by it; above 1 flattens P_F
  double epsilon = 0;              // 0..1: share of uniform choice that is mixed in at either stage
  int threads = 1;
  std::int64_t first = 0;     // number of the first trajectory: later calls continue a batch
  double recorded_share = 0;  // share of the steps, chosen at random, that are recorded
};

struct Trajectory {
  std::vector<Action> actions;
  Assignment assignment;
  double makespan = 0;      // seconds
  double log_forward = 0;   // sum of log P_F under the policy itself: softmax temperature 1, epsilon 0
  double log_backward = 0;  // sum of log P_B, the policy's own or uniform
};

// Draws `count` trajectories. Trajectory i comes from random.Fork(first + i), so the same generator gives the same
// trajectories at any number of threads. Records steps into `batch` unless it is null, in order of trajectory and step.
std::vector<Trajectory> SampleTrajectories(const Environment& environment, const PreparedPolicy& policy, int count,
                                           const SamplerOptions& options, const Random& random, StepBatch* batch);

// Scores given action sequences instead: what their probabilities are, and their steps for training. A choice that the
// policy is not offered (beyond kReadyWindow) has probability 0: log_forward is then -infinity, and the step is not
// recorded.
std::vector<Trajectory> RescoreTrajectories(const Environment& environment, const PreparedPolicy& policy,
                                            const std::vector<std::vector<Action>>& actions,
                                            const SamplerOptions& options, const Random& random, StepBatch* batch);

// Draws windows of a plan anew, one a trajectory, each by itself: its first steps are the plan's, then the policy draws
// from random.Fork(first + i), and what is left to place follows in the plan's order, each group on the plan's device
// (a colocation that the window has moved stays together). A window is a decision process of its own, whose states
// begin with the kept steps and which ends with its last step: log_forward and log_backward are those of the drawn
// steps.
std::vector<Trajectory> RedrawWindows(const Environment& environment, const PreparedPolicy& policy,
                                      const Assignment& plan, const std::vector<Window>& windows,
                                      const SamplerOptions& options, const Random& random, StepBatch* batch);

// The plan of the most likely choices.
Trajectory GreedyTrajectory(const Environment& environment, const PreparedPolicy& policy);

}  // namespace millrace
