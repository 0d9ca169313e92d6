// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "millrace/train/gflownet/objective.h"

// Trajectory balance: the mean square of log Z + log P_F - log R - log P_B, with log Z a small network of the problem
// and the reward temperature, trained along. The ablation beside log-partition variance, which it equals once log Z is
// the batch's mean of log R + log P_B - log P_F.
//
// Source: Malkin et al., "Trajectory balance: improved credit assignment in GFlowNets", NeurIPS 2022.
namespace millrace {
namespace {

class TrajectoryBalance : public Objective {
 public:
  explicit TrajectoryBalance(const ObjectiveSettings& settings) : settings_(settings) {}

  std::string name() const override { return "trajectory_balance"; }
  bool wants_log_partition() const override { return true; }

  Derivative Differentiate(const SampledTrajectories& sampled, const Predicted& predicted, double) const override {
    const std::size_t count = sampled.log_reward.size();
    const double share = 1 / static_cast<double>(count);
    std::vector<double> residual(count);
    double loss = 0;
    for (std::size_t i = 0; i < count; ++i) {
      residual[i] = predicted.log_partition + sampled.log_forward[i] - sampled.log_reward[i] - sampled.log_backward[i];
      loss += residual[i] * residual[i] * share;
    }
    // Normalised by the root mean square, not by the deviation: the mean is what log Z has yet to learn.
    const double size = std::sqrt(loss);
    const double limit = settings_.weight_limit;
    std::vector<double> by_trajectory(count);
    double by_log_partition = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double weight =
          limit == 0 ? 2 * residual[i] * share
                     : (size > 0 ? std::clamp(residual[i] / size, -limit, limit) : 0) * share / sampled.drawn_steps;
      by_trajectory[i] = weight;
      by_log_partition += weight;
    }
    Derivative derivative = SpreadOverSteps(sampled, by_trajectory);
    derivative.log_partition = by_log_partition;
    derivative.loss = loss;
    return derivative;
  }

 private:
  ObjectiveSettings settings_;
};

}  // namespace

std::unique_ptr<Objective> MakeTrajectoryBalance(const ObjectiveSettings& settings) {
  return std::make_unique<TrajectoryBalance>(settings);
}

}  // namespace millrace
