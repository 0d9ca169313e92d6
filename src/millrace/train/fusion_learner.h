// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "millrace/env/fusion_choices.h"
#include "millrace/policy/weights.h"

// The network of policy/learned_fusion.h under training. Nothing of libtorch shows here.
namespace millrace {

// The offered merges of several rows of answers at one reward temperature, one row after the other.
struct MergeSteps {
  double temperature = 1;
  std::vector<std::int64_t> row;  // by offer: whose
  std::vector<float> features;    // by offer x kMergeFeatures
  std::vector<float> saved;       // by offer, MergeObservation::saved
  std::vector<float> answer;      // by offer: 1 accepted, -1 declined
};

// Walks the rows again. Each must answer every offer of the problem.
MergeSteps RecordMerges(const FusionProblem& problem, double temperature,
                        const std::vector<std::vector<char>>& answers);

struct FusionLearnerSettings {
  double average_decay = 0.999;  // of the weights' moving average
  double gradient_limit = 1;     // the gradient's norm is cut down to this; 0: it is not
};

// Adam on the weights.
class FusionLearner {
 public:
  // Throws InvalidInput for weights of another architecture or shape.
  FusionLearner(const Weights& start, const FusionLearnerSettings& settings);
  ~FusionLearner();

  // Log probability of every answer. Keeps what Descend needs.
  std::vector<std::vector<float>> Predict(const std::vector<MergeSteps>& steps);

  // One step down the derivatives by the log probability of each row, for each element of the last Predict. Returns the
  // gradient's norm before it was cut. Throws WorkFailed, and changes nothing, where that is not finite.
  double Descend(const std::vector<std::vector<double>>& by_row, double learning_rate);

  Weights weights() const;
  Weights average() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace
