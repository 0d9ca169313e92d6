// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "millrace/go/features.h"
#include "millrace/go/own_logits.h"
#include "millrace/go/problem.h"
#include "millrace/network/weights.h"
#include "millrace/train/go/step.h"
#include "millrace/train/torch/learner.h"
#include "millrace/train/torch/team.h"

// GO's policy under training. Nothing of libtorch shows here. Probabilities are logarithms, in nats.
//
// Source: Schulman et al., "Proximal Policy Optimization Algorithms", 2017, with every decision's probability by
// itself.
namespace millrace {

// What an update learns from one problem. Sampled steps have an advantage each and all decide the same tasks;
// demonstrations all decide the same tasks too, perhaps others. Problem and features are not owned.
struct GoBatch {
  const GoProblem* problem = nullptr;
  const GoFeatures* features = nullptr;
  RowWindow window;
  std::vector<GoStep> sampled;
  std::vector<double> advantages;
  std::vector<GoStep> demonstrations;
  const OwnLogits* own = nullptr;  // of the problem, which stay as they are; not owned; null: none
};

// Terms of the loss are means over the decisions of a task, summed over tasks.
struct GoObjective {
  int passes = 2;            // gradient steps
  double ratio_limit = 0.2;  // how far a decision's probability may move
  double entropy_bonus = 0;
  double demonstration_weight = 0;  // of their likelihood, against 1 for what was sampled
  double learning_rate = 1e-3;
};

// Means over batches, of the last gradient step.
struct GoUpdateResult {
  double loss = 0;
  double entropy = 0;                        // nats per decision
  double demonstration_log_probability = 0;  // per decision; 0 without demonstrations
  double gradient_norm = 0;                  // before it was cut
};

struct GoLearnerSettings {
  double average_decay = 0.99;
  double gradient_limit = 1;
  int threads = 1;             // of libtorch
  const Team* team = nullptr;  // that trains together, and outlives the learner; null: nobody else
};

// Adam (Kingma and Ba, 2015) on the weights of go/network.h. On the first CUDA device where there is one.
class GoLearner final : public Learner {
 public:
  // Throws InvalidInput for weights of another architecture or shape.
  GoLearner(const Weights& start, const GoLearnerSettings& settings);
  ~GoLearner() override;

  // Log probability of each sampled step's choices: by step, and task of kTasks, the sum over what counts.
  std::vector<std::array<double, kTasks.size()>> LogProbabilities(const GoBatch& batch) const;

  // As many gradient steps as there are passes. Of a team's batches, those that this rank does not own may be empty.
  // Throws WorkFailed where the gradient is not finite.
  GoUpdateResult Update(const std::vector<GoBatch>& batches, const GoObjective& objective);

  Weights weights() const override;
  Weights average() const override;
  Weights Save() const override;
  void Load(const Weights& saved) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace
