// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/gflownet/sampling/step_batch.h"
#include "millrace/train/torch/settings_table.h"

// What training descends. An objective never sees the network: it is given what was sampled for one problem and what
// the network now says of the recorded choices, and returns its loss and the derivative by each of these numbers.
// Rewards and probabilities are logarithms, in nats.
//
// The loss is a function of whole trajectories while only a share of their steps is recorded: derivatives of recorded
// steps are divided by that share, which makes their sum an unbiased estimate.
namespace millrace {

// The trajectories sampled for one problem at one reward temperature. The vectors are by trajectory.
struct SampledTrajectories {
  int drawn_steps = 0;  // of each
  double recorded_share = 1;
  std::vector<double> log_reward;
  std::vector<double> log_forward;   // under the policy that sampled them
  std::vector<double> log_backward;  // P_B of that policy, or uniform
  const StepBatch* steps = nullptr;  // the recorded ones; not owned

  // Of a batch that the exact flow is known of (exact_batch.h): by choice the probability that it should have, times
  // how often its state is met, and the entropy of these.
  std::vector<float> wanted;
  double wanted_entropy = 0;
};

// What the network being trained says.
struct Predicted {
  std::vector<float> groups;    // by group step of the batch: log probability of the taken choice
  std::vector<float> devices;   // by device step
  std::vector<float> removals;  // by step: log P_B; empty where that is uniform
  double log_partition = 0;     // its estimate of log Z of the problem, where asked for
};

// Loss and its derivatives by the numbers of Predicted.
struct Derivative {
  double loss = 0;
  std::vector<float> groups;
  std::vector<float> devices;
  std::vector<float> removals;
  double log_partition = 0;
  double entropy = 0;  // by the sum over recorded steps of the entropy of their choices, where asked for
};

// The rows of TableOf say what each means.
struct ObjectiveSettings {
  double weight_limit = 3;
  double least_deviation = 0;
  double ratio_limit = 0.2;
  int passes = 3;
  double entropy_bonus = 0.01;
  double last_entropy_bonus = 0;
};

SettingsTable TableOf(ObjectiveSettings& settings);
void CheckSettings(const ObjectiveSettings& settings);  // throws InvalidInput

class Objective {
 public:
  virtual ~Objective() = default;
  virtual std::string name() const = 0;
  virtual int passes() const { return 1; }                    // gradient steps over the same trajectories
  virtual bool wants_log_partition() const { return false; }  // trains an estimate of log Z beside the policy
  virtual bool wants_entropy() const { return false; }
  virtual bool wants_exact_flow() const { return false; }  // learns from exact batches

  // `progress` of the training, 0..1.
  virtual Derivative Differentiate(const SampledTrajectories& sampled, const Predicted& predicted,
                                   double progress) const = 0;
};

std::vector<std::string> ObjectiveNames();

// Throws InvalidInput, listing the names, where there is none of this one; for settings out of range too.
std::unique_ptr<Objective> MakeObjective(std::string_view name, const ObjectiveSettings& settings);

std::unique_ptr<Objective> MakeLogPartitionVariance(const ObjectiveSettings& settings);
std::unique_ptr<Objective> MakeTrajectoryBalance(const ObjectiveSettings& settings);
std::unique_ptr<Objective> MakePpo(const ObjectiveSettings& settings);
std::unique_ptr<Objective> MakeExactFlowDivergence(const ObjectiveSettings& settings);

// Log-partition variance: the variance of zeta over trajectories and its derivative by each log P_F. A trajectory has
// `steps` steps, which the normalised derivative is divided by.
struct PartitionVariance {
  double loss = 0;
  std::vector<double> by_forward;
};
PartitionVariance VarianceOf(const std::vector<double>& zeta, const ObjectiveSettings& settings, int steps);

// The derivative by every recorded choice where each trajectory's whole log P_F has this one.
Derivative SpreadOverSteps(const SampledTrajectories& sampled, const std::vector<double>& by_trajectory);

// The derivative by every removal where P_B is learned: the opposite of that by its step, since a loss of zeta sees
// only the difference of log P_B and log P_F.
void SpreadOverRemovals(const SampledTrajectories& sampled, const Predicted& predicted,
                        const std::vector<double>& by_trajectory, Derivative& derivative);

// Differences from the mean over their standard deviation, or over `least` where that is less, cut off at the limit
// either way; 0 where all are equal.
std::vector<double> Normalise(const std::vector<double>& values, double limit, double least = 0);

}  // namespace millrace
