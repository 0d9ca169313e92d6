// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/gflownet/objective.h"

// The variance over trajectories of zeta = log R + log P_B - log P_F, which every trajectory shares, as log Z, once P_F
// samples in proportion to the reward. No log Z needs to be learned.
//
// Source: Zhang et al., "Robust Scheduling with GFlowNets", ICLR 2023; Richter et al., "VarGrad", NeurIPS 2020.
//
// d Var / d log P_F of trajectory i = -2 (zeta_i - mean) / (count - 1). At low reward temperatures a few trajectories
// would own that sum, so the difference is divided by the batch's standard deviation and cut off: every problem then
// pulls with the same strength, whatever its size and temperature, and the same trajectories leave it at rest. Where
// trajectories hardly differ in reward, zeta differs by the policy's own chances alone. That is no news worth as much
// as the others', so there is a least deviation.
namespace millrace {
namespace {

class LogPartitionVariance : public Objective {
 public:
  explicit LogPartitionVariance(const ObjectiveSettings& settings) : settings_(settings) {}

  std::string name() const override { return "log_partition_variance"; }

  Derivative Differentiate(const SampledTrajectories& sampled, const Predicted& predicted, double) const override {
    std::vector<double> zeta(sampled.log_reward.size());
    for (std::size_t i = 0; i < zeta.size(); ++i)
      zeta[i] = sampled.log_reward[i] + sampled.log_backward[i] - sampled.log_forward[i];
    const PartitionVariance variance = VarianceOf(zeta, settings_, sampled.drawn_steps);
    Derivative derivative = SpreadOverSteps(sampled, variance.by_forward);
    SpreadOverRemovals(sampled, predicted, variance.by_forward, derivative);
    derivative.loss = variance.loss;
    return derivative;
  }

 private:
  ObjectiveSettings settings_;
};

}  // namespace

PartitionVariance VarianceOf(const std::vector<double>& zeta, const ObjectiveSettings& settings, int steps) {
  const std::size_t count = zeta.size();
  double mean = 0;
  for (const double value : zeta) mean += value / static_cast<double>(count);
  const double others = count > 1 ? static_cast<double>(count - 1) : 1;
  PartitionVariance variance;
  for (const double value : zeta) variance.loss += (value - mean) * (value - mean) / others;
  variance.by_forward.resize(count);
  if (settings.weight_limit > 0) {
    const std::vector<double> weights = Normalise(zeta, settings.weight_limit, settings.least_deviation);
    const double all_steps = static_cast<double>(count) * steps;
    for (std::size_t i = 0; i < count; ++i) variance.by_forward[i] = -weights[i] / all_steps;
  } else {
    for (std::size_t i = 0; i < count; ++i) variance.by_forward[i] = -2 * (zeta[i] - mean) / others;
  }
  return variance;
}

std::unique_ptr<Objective> MakeLogPartitionVariance(const ObjectiveSettings& settings) {
  return std::make_unique<LogPartitionVariance>(settings);
}

}  // namespace millrace
