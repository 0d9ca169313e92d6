// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "millrace/train/gflownet/objective.h"

// Proximal policy optimisation on the same decision process: the baseline that looks for one best plan. A trajectory's
// advantage is its log reward against the batch (no value network), normalised; every step's probability may move by
// `ratio_limit` at most before it stops counting; an entropy bonus keeps it exploring.
//
// Source: Schulman et al., "Proximal Policy Optimization Algorithms", 2017.
namespace millrace {
namespace {

constexpr double kAdvantageLimit = 5;

class Ppo : public Objective {
 public:
  explicit Ppo(const ObjectiveSettings& settings) : settings_(settings) {}

  std::string name() const override { return "ppo"; }
  int passes() const override { return settings_.passes; }
  bool wants_entropy() const override { return settings_.entropy_bonus > 0 || settings_.last_entropy_bonus > 0; }

  Derivative Differentiate(const SampledTrajectories& sampled, const Predicted& predicted,
                           double progress) const override {
    const std::vector<double> advantages = Normalise(sampled.log_reward, kAdvantageLimit);
    const double share = 1 / (static_cast<double>(advantages.size()) * sampled.drawn_steps * sampled.recorded_share);
    Derivative derivative;
    derivative.groups = Steps(sampled.steps->groups, predicted.groups, advantages, share, derivative.loss);
    derivative.devices = Steps(sampled.steps->devices, predicted.devices, advantages, share, derivative.loss);
    const double bonus = settings_.entropy_bonus + (settings_.last_entropy_bonus - settings_.entropy_bonus) * progress;
    derivative.entropy = -bonus * share;
    return derivative;
  }

 private:
  // loss = -min(ratio A, clip(ratio) A); its derivative by the log probability is -ratio A where it is not clipped.
  std::vector<float> Steps(const ChoiceBatch& batch, const std::vector<float>& now,
                           const std::vector<double>& advantages, double share, double& loss) const {
    std::vector<float> out(batch.steps(), 0);
    for (std::size_t step = 0; step < out.size(); ++step) {
      const double advantage = advantages[static_cast<std::size_t>(batch.trajectory[step])];
      const double ratio = std::exp(static_cast<double>(now[step]) - batch.log_probability[step]);
      const double bound = advantage > 0 ? 1 + settings_.ratio_limit : 1 - settings_.ratio_limit;
      const bool clipped = advantage > 0 ? ratio > bound : ratio < bound;
      loss -= (clipped ? bound : ratio) * advantage * share;
      if (!clipped) out[step] = static_cast<float>(-ratio * advantage * share);
    }
    return out;
  }

  ObjectiveSettings settings_;
};

}  // namespace

std::unique_ptr<Objective> MakePpo(const ObjectiveSettings& settings) { return std::make_unique<Ppo>(settings); }

}  // namespace millrace
