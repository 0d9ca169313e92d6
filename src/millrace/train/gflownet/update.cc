// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/gflownet/update.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "millrace/errors/errors.h"

namespace millrace {
namespace {

// Maximum likelihood of the recorded choices.
Derivative Imitate(const SampledTrajectories& given, const Predicted& predicted, double weight,
                   double& log_probability) {
  const std::size_t count = given.log_reward.size();
  double sum = 0;
  for (const float value : predicted.groups) sum += value;
  for (const float value : predicted.devices) sum += value;
  log_probability = sum / static_cast<double>(std::max<std::size_t>(1, predicted.groups.size()));
  Derivative derivative =
      SpreadOverSteps(given, std::vector<double>(count, -weight / (static_cast<double>(count) * given.drawn_steps)));
  derivative.removals.assign(predicted.removals.size(), 0);  // a demonstration says nothing of P_B
  return derivative;
}

void Scale(double share, Derivative& derivative) {
  for (float& value : derivative.groups) value *= static_cast<float>(share);
  for (float& value : derivative.devices) value *= static_cast<float>(share);
  for (float& value : derivative.removals) value *= static_cast<float>(share);
  derivative.log_partition *= share;
  derivative.entropy *= share;
}

// Means over all parts' batches of what is in its name, of one part its share.
struct PartResult {
  double loss = 0;
  double demonstration_log_probability = 0;
};

struct BatchCounts {
  double sampled = 0;
  double demonstrations = 0;
};

BatchCounts CountBatches(std::span<const UpdatePart> parts, const Team& team) {
  std::vector<BatchCounts> counts(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (const TrajectoryBatch& batch : parts[i])
      (batch.demonstration ? counts[i].demonstrations : counts[i].sampled) += 1;
  }
  team.Share(counts);
  BatchCounts sum;
  for (const BatchCounts& count : counts) {
    sum.sampled += count.sampled;
    sum.demonstrations += count.demonstrations;
  }
  return sum;
}

// What an update's parts have in common.
struct PartUpdate {
  const Objective& objective;
  double demonstration_weight;
  double progress;
  BatchCounts counts;

  PartResult Follow(const UpdatePart& part, GFlowNetLearner& learner) const {
    std::vector<RecordedSteps> recorded;
    recorded.reserve(part.size());
    for (const TrajectoryBatch& batch : part)
      recorded.push_back(
          {.graph = &batch.graph, .temperature = batch.temperature, .steps = &batch.steps, .states = &batch.states});
    const std::vector<Predicted> predicted = learner.Predict(recorded);
    std::vector<Derivative> derivatives;
    PartResult result;
    for (std::size_t i = 0; i < part.size(); ++i) {
      SampledTrajectories trajectories = part[i].sampled;
      trajectories.steps = &part[i].steps;
      if (part[i].demonstration) {
        double log_probability = 0;
        derivatives.push_back(
            Imitate(trajectories, predicted[i], demonstration_weight / counts.demonstrations, log_probability));
        result.demonstration_log_probability += log_probability / counts.demonstrations;
        continue;
      }
      derivatives.push_back(objective.Differentiate(trajectories, predicted[i], progress));
      result.loss += derivatives.back().loss / counts.sampled;
      Scale(1 / counts.sampled, derivatives.back());
    }
    if (std::isfinite(result.loss)) learner.Follow(derivatives);
    return result;
  }
};

}  // namespace

UpdateResult UpdateLearner(std::span<const UpdatePart> parts, const Objective& objective, double demonstration_weight,
                           double learning_rate, double progress, const Team& team, GFlowNetLearner& learner) {
  const PartUpdate update{objective, demonstration_weight, progress, CountBatches(parts, team)};
  UpdateResult result;
  for (int pass = 0; pass < objective.passes(); ++pass) {
    std::vector<PartResult> by_part(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (team.Owns(i)) by_part[i] = update.Follow(parts[i], learner);
    }
    team.Share(by_part);
    result = {};
    for (const PartResult& part : by_part) {
      result.loss += part.loss;
      result.demonstration_log_probability += part.demonstration_log_probability;
    }
    if (!std::isfinite(result.loss)) throw WorkFailed("the loss is not finite");
    result.gradient_norm = learner.Descend(parts.size(), learning_rate);
  }
  return result;
}

UpdateResult UpdateLearner(const UpdatePart& batches, const Objective& objective, double demonstration_weight,
                           double learning_rate, double progress, GFlowNetLearner& learner) {
  return UpdateLearner({&batches, 1}, objective, demonstration_weight, learning_rate, progress, Team(), learner);
}

}  // namespace millrace
