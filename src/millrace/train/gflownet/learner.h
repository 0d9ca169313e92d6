// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "millrace/gflownet/environment/graph_features.h"
#include "millrace/gflownet/sampling/step_batch.h"
#include "millrace/network/weights.h"
#include "millrace/train/gflownet/objective.h"
#include "millrace/train/gflownet/state_steps.h"
#include "millrace/train/torch/learner.h"
#include "millrace/train/torch/team.h"

// The GFlowNet's policy under training. Nothing of libtorch shows here, so that what drives training compiles without
// it. Probabilities are logarithms, in nats.
namespace millrace {

// The recorded steps of one problem at one reward temperature; nothing is owned.
struct RecordedSteps {
  const GraphFeatures* graph = nullptr;
  double temperature = 1;
  const StepBatch* steps = nullptr;
  const StateSteps* states = nullptr;  // of all steps, where the network encodes states; with removals where P_B is
                                       // learned
};

struct GFlowNetLearnerSettings {
  bool log_partition = false;    // learn log Z of problems beside the policy
  bool entropy = false;          // gradients of entropies too
  double average_decay = 0.999;  // of the weights' moving average
  double gradient_limit = 1;     // the gradient's norm is cut down to this; 0: it is not
  int threads = 1;               // of libtorch
  const Team* team = nullptr;    // that trains together, and outlives the learner; null: nobody else
};

// Adam (Kingma and Ba, 2015) on the weights of gflownet/policy/message_passing.h, or of gflownet/policy/topoformer.h
// where it encodes states. On the first CUDA device where there is one.
class GFlowNetLearner final : public Learner {
 public:
  // Throws InvalidInput for weights of another architecture or shape, and for log Z or entropies of a network that
  // encodes states.
  GFlowNetLearner(const Weights& start, const GFlowNetLearnerSettings& settings);
  ~GFlowNetLearner() override;

  // What the network says of all recorded choices of one part of an update, in one pass. Keeps what Follow needs.
  std::vector<Predicted> Predict(const std::vector<RecordedSteps>& recorded);

  // Adds the part's gradient, by the derivatives of what was predicted last.
  void Follow(const std::vector<Derivative>& derivatives);

  // One gradient step, once all of an update's parts that this rank owns have been followed. Returns the gradient's
  // norm before it was cut. Throws WorkFailed, and changes nothing, where that is not finite.
  double Descend(std::size_t parts, double learning_rate);

  Weights weights() const override;
  Weights average() const override;
  Weights Save() const override;
  void Load(const Weights& saved) override;

  std::string device() const;  // "cpu" or "cuda"

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace
