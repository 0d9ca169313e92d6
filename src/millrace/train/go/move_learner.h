// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "millrace/network/weights.h"
#include "millrace/train/go/credit.h"
#include "millrace/train/go/learner.h"
#include "millrace/train/go/step.h"

// The policy that moves blocks, under training. Nothing of libtorch shows here.
namespace millrace {

// One look at a placement, and the credit of its blocks. Problem and blocks are not owned.
struct MoveExample {
  const MoveProblem* problem = nullptr;
  const GoBlocks* blocks = nullptr;
  std::shared_ptr<const DecisionObservation> before;
  Decisions decisions;  // that were looked at
  Credit credit;
};

struct MoveUpdateResult {
  double loss = 0;        // as below, mean over examples
  double ranking = 0;     // its second part
  double best_found = 0;  // the most that one of the eight surest moves saves, of the most that any saves
  double gradient_norm = 0;
};

// The loss of an example has two parts, both divergences of the policy from softmax(gain / unit): over the devices of
// each block, weighted by what is at stake there; and over all moves of all blocks by how sure the policy is of them,
// so that it learns which are worth a try (ListNet: Cao et al., "Learning to rank: from pairwise approach to listwise
// approach", 2007).
// Adam on the weights of go/network.h, of which the heads of priority and fusion have no part in it.
class MoveLearner final : public Learner {
 public:
  // Throws InvalidInput for weights of another architecture or shape.
  MoveLearner(const Weights& start, const GoLearnerSettings& settings);
  ~MoveLearner() override;

  // One gradient step. Of a team's examples, those that this rank does not own may be empty. Throws WorkFailed where
  // the gradient is not finite.
  MoveUpdateResult Update(const std::vector<MoveExample>& examples, double unit, double learning_rate);

  Weights weights() const override;
  Weights average() const override;
  Weights Save() const override;
  void Load(const Weights& saved) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace
