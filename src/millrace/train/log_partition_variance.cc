// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/objective.h"

// The variance over trajectories of zeta = log R + log P_B - log P_F, which every trajectory shares, as log Z, once P_F
// samples in proportion to the reward. No log Z needs to be learned.
//
// Source: Zhang et al., "Robust Scheduling with GFlowNets", ICLR 2023; Richter et al., "VarGrad", NeurIPS 2020.
//
// d Var / d log P_F of trajectory i = -2 (zeta_i - mean) / (count - 1). At low reward temperatures a few trajectories
// would own that sum, so the difference is divided by the batch's standard deviation and cut off: every problem then
// pulls with the same strength, whatever its size and temperature, and the same trajectories leave it at rest.
namespace millrace {
namespace {

class LogPartitionVariance : public Objective {
 public:
  explicit LogPartitionVariance(const ObjectiveSettings& settings) : settings_(settings) {}

  std::string name() const override { return "log_partition_variance"; }

  Derivative Differentiate(const Drawn& drawn, const Predicted&, double) const override {
    const std::size_t count = drawn.log_reward.size();
    std::vector<double> zeta(count);
    double mean = 0;
    for (std::size_t i = 0; i < count; ++i) {
      zeta[i] = drawn.log_reward[i] + drawn.log_backward[i] - drawn.log_forward[i];
      mean += zeta[i] / static_cast<double>(count);
    }
    double variance = 0;
    const double others = count > 1 ? static_cast<double>(count - 1) : 1;
    for (const double value : zeta) variance += (value - mean) * (value - mean) / others;

    std::vector<double> by_trajectory(count);
    if (settings_.weight_limit > 0) {
      const std::vector<double> weights = Normalise(zeta, settings_.weight_limit);
      const double steps = static_cast<double>(count) * drawn.num_groups;
      for (std::size_t i = 0; i < count; ++i) by_trajectory[i] = -weights[i] / steps;
    } else {
      for (std::size_t i = 0; i < count; ++i) by_trajectory[i] = -2 * (zeta[i] - mean) / others;
    }
    Derivative derivative = SpreadOverSteps(drawn, by_trajectory);
    derivative.loss = variance;
    return derivative;
  }

 private:
  ObjectiveSettings settings_;
};

}  // namespace

std::unique_ptr<Objective> MakeLogPartitionVariance(const ObjectiveSettings& settings) {
  return std::make_unique<LogPartitionVariance>(settings);
}

}  // namespace millrace
