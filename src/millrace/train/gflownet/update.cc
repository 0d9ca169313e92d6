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

}  // namespace

UpdateResult UpdateLearner(const std::vector<TrajectoryBatch>& batches, const Objective& objective,
                           double demonstration_weight, double learning_rate, double progress,
                           GFlowNetLearner& learner) {
  std::vector<RecordedSteps> recorded;
  std::vector<SampledTrajectories> trajectories;
  double sampled = 0;
  double demonstrations = 0;
  for (const TrajectoryBatch& batch : batches) {
    recorded.push_back(
        {.graph = &batch.graph, .temperature = batch.temperature, .steps = &batch.steps, .states = &batch.states});
    trajectories.push_back(batch.sampled);
    trajectories.back().steps = &batch.steps;
    (batch.demonstration ? demonstrations : sampled) += 1;
  }
  UpdateResult result;
  for (int pass = 0; pass < objective.passes(); ++pass) {
    const std::vector<Predicted> predicted = learner.Predict(recorded);
    std::vector<Derivative> derivatives;
    result.loss = 0;
    for (std::size_t i = 0; i < batches.size(); ++i) {
      if (batches[i].demonstration) {
        derivatives.push_back(Imitate(trajectories[i], predicted[i], demonstration_weight / demonstrations,
                                      result.demonstration_log_probability));
        continue;
      }
      derivatives.push_back(objective.Differentiate(trajectories[i], predicted[i], progress));
      result.loss += derivatives.back().loss / sampled;
      Scale(1 / sampled, derivatives.back());
    }
    if (!std::isfinite(result.loss)) throw WorkFailed("the loss is not finite");
    result.gradient_norm = learner.Descend(derivatives, learning_rate);
  }
  return result;
}

}  // namespace millrace
