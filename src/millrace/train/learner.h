// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "millrace/env/graph_features.h"
#include "millrace/policy/weights.h"
#include "millrace/rollout/step_batch.h"
#include "millrace/train/objective.h"
#include "millrace/train/state_steps.h"

// The network under training: its weights, their moving average and the optimiser's moments. Nothing of libtorch shows
// here, so that what drives training compiles without it.
namespace millrace {

// The recorded steps of one problem at one reward temperature.
struct Replay {
  const GraphFeatures* graph = nullptr;
  double temperature = 1;
  const StepBatch* steps = nullptr;
  const StateSteps* states = nullptr;  // of all steps, where the network encodes states; with removals where P_B is
                                       // learned
};

struct LearnerSettings {
  bool log_partition = false;    // learn log Z of problems beside the policy
  bool entropy = false;          // gradients of entropies too
  double average_decay = 0.999;  // of the weights' moving average
  double gradient_limit = 1;     // the gradient's norm is cut down to this; 0: it is not
  int threads = 1;               // of libtorch
};

// Adam (Kingma and Ba, 2015) on the weights of policy/message_passing.h, or of policy/topoformer.h where it encodes
// states. On the first CUDA device where there is one.
class Learner {
 public:
  // Throws InvalidInput for weights of another architecture or shape, and for log Z or entropies of a network that
  // encodes states.
  Learner(const Weights& start, const LearnerSettings& settings);
  ~Learner();

  // What the network says of all recorded choices, in one pass. Keeps what Descend needs.
  std::vector<Predicted> Predict(const std::vector<Replay>& replays);

  // One step of Adam down the derivatives, one for each replay of the last Predict. Returns the gradient's norm before
  // it was cut. Throws WorkFailed, and changes nothing, where that is not finite.
  double Descend(const std::vector<Derivative>& derivatives, double learning_rate);

  Weights weights() const;
  Weights average() const;

  // Everything above as tensors for a checkpoint. Load throws InvalidInput where they do not fit this network.
  Weights Save() const;
  void Load(const Weights& saved);

  std::string device() const;  // "cpu" or "cuda"

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace
