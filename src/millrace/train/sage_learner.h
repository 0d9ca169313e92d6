// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "millrace/env/one_shot_features.h"
#include "millrace/env/one_shot_problem.h"
#include "millrace/policy/weights.h"
#include "millrace/train/one_shot_step.h"

// GO's network under training: its weights, their moving average and the optimiser's moments. Nothing of libtorch shows
// here.
namespace millrace {

// What one problem teaches in an update. Steps that were drawn have an advantage each and all decide the same tasks;
// examples all decide the same tasks, too, perhaps others.
struct OneShotLesson {
  const OneShotProblem* problem = nullptr;
  const OneShotFeatures* features = nullptr;
  RowWindow window;
  std::vector<OneShotStep> drawn;
  std::vector<double> advantages;
  std::vector<OneShotStep> examples;
};

// Proximal policy optimisation with every decision's probability by itself (Schulman et al., 2017), and the likelihood
// of examples. Terms are means over the decisions of a task, summed over tasks.
struct OneShotObjective {
  int passes = 2;
  double ratio_limit = 0.2;
  double entropy_bonus = 0;
  double imitation = 0;  // weight of examples, against 1 for what was drawn
  double learning_rate = 1e-3;
};

// Means over lessons, of the last pass.
struct OneShotTaught {
  double loss = 0;
  double entropy = 0;                  // nats per decision
  double example_log_probability = 0;  // per decision; 0 without examples
  double gradient_norm = 0;            // before it was cut
};

struct SageLearnerSettings {
  double average_decay = 0.99;
  double gradient_limit = 1;
  int threads = 1;  // of libtorch
};

// Adam on the weights of policy/sage.h. On the first CUDA device where there is one.
class SageLearner {
 public:
  // Throws InvalidInput for weights of another architecture or shape.
  SageLearner(const Weights& start, const SageLearnerSettings& settings);
  ~SageLearner();

  // Log probability of each drawn step's choices: by step, and task of kTasks, the sum over what counts.
  std::vector<std::array<double, kTasks.size()>> LogProbabilities(const OneShotLesson& lesson) const;

  // As many steps of Adam as there are passes. Throws WorkFailed where the gradient is not finite.
  OneShotTaught Teach(const std::vector<OneShotLesson>& lessons, const OneShotObjective& objective);

  Weights weights() const;
  Weights average() const;

  // Everything above as tensors for a checkpoint. Load throws InvalidInput where they do not fit this network.
  Weights Save() const;
  void Load(const Weights& saved);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace
