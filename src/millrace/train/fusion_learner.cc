// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/fusion_learner.h"

#include <cmath>
#include <map>
#include <string>

#include "millrace/env/merge_observation.h"
#include "millrace/policy/learned_fusion.h"
#include "millrace/train/trained_parameters.h"

namespace millrace {

MergeSteps RecordMerges(const FusionProblem& problem, double temperature,
                        const std::vector<std::vector<char>>& answers) {
  MergeSteps steps;
  steps.temperature = temperature;
  FusionState state(problem);
  MergeObserver observer(problem);
  MergeObservation offered;
  for (std::size_t row = 0; row < answers.size(); ++row) {
    state.Clear();
    for (const char answer : answers[row]) {
      observer.Observe(state, offered);
      steps.row.push_back(static_cast<std::int64_t>(row));
      steps.features.insert(steps.features.end(), offered.features.begin(), offered.features.end());
      steps.saved.push_back(static_cast<float>(offered.saved));
      steps.answer.push_back(answer != 0 ? 1.0f : -1.0f);
      if (answer != 0) {
        state.Accept();
      } else {
        state.Decline();
      }
    }
  }
  return steps;
}

struct FusionLearner::State {
  State(const Weights& start, const FusionLearnerSettings& of)
      : settings(of),
        metadata(start.metadata),
        shapes(LearnedFusionShapes().size()),
        trained(LearnedFusionShapes(), start, of.average_decay, torch::kCPU) {}

  Weights WithMetadata(Weights weights) const {
    weights.metadata = metadata;
    return weights;
  }

  // By offer.
  torch::Tensor LogProbability(const MergeSteps& steps) const {
    const Parameters& parameters = trained.parameters();
    const torch::Device device = torch::kCPU;
    const torch::Tensor t = torch::full({1, 1}, std::log(steps.temperature), torch::kFloat32);
    const torch::Tensor condition = torch::relu(Linear(parameters, "condition", t));
    const torch::Tensor first = Linear(parameters, "first", Floats(steps.features, kMergeFeatures, device));
    const torch::Tensor z =
        torch::relu(first * (1 + Linear(parameters, "scale", condition)) + Linear(parameters, "shift", condition));
    const torch::Tensor logit =
        Linear(parameters, "out", torch::relu(Linear(parameters, "hidden", z))) +
        torch::exp(torch::clamp(Linear(parameters, "strength", condition), -8, 8)) * Floats(steps.saved, 1, device);
    return torch::log_sigmoid(logit * Floats(steps.answer, 1, device)).squeeze(1);
  }

  FusionLearnerSettings settings;
  std::map<std::string, std::string> metadata;
  std::size_t shapes;
  TrainedParameters trained;
  std::vector<torch::Tensor> outputs, rows;  // of the last Predict
};

FusionLearner::FusionLearner(const Weights& start, const FusionLearnerSettings& settings) {
  MakeLearnedFusionPolicy(start);  // refuses what is no such network
  state_ = std::make_unique<State>(start, settings);
}

FusionLearner::~FusionLearner() = default;

std::vector<std::vector<float>> FusionLearner::Predict(const std::vector<MergeSteps>& steps) {
  std::vector<std::vector<float>> predicted;
  predicted.reserve(steps.size());
  state_->outputs.clear();
  state_->rows.clear();
  for (const MergeSteps& some : steps) {
    state_->outputs.push_back(state_->LogProbability(some));
    state_->rows.push_back(Indices(some.row, torch::kCPU));
    predicted.push_back(ToWeightTensor(state_->outputs.back(), {}).values);
  }
  return predicted;
}

double FusionLearner::Descend(const std::vector<std::vector<double>>& by_row, double learning_rate) {
  State& state = *state_;
  std::vector<torch::Tensor> gradients;
  gradients.reserve(by_row.size());
  for (std::size_t i = 0; i < by_row.size(); ++i)
    gradients.push_back(torch::tensor(by_row[i], torch::kFloat32).index_select(0, state.rows[i]));
  state.trained.ClearGradient();
  torch::autograd::backward(state.outputs, gradients);
  state.outputs.clear();
  return state.trained.Descend(learning_rate, state.settings.gradient_limit);
}

Weights FusionLearner::weights() const { return state_->WithMetadata(state_->trained.Values(state_->shapes)); }
Weights FusionLearner::average() const { return state_->WithMetadata(state_->trained.Average(state_->shapes)); }

}  // namespace millrace
