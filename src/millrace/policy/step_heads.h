// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "millrace/env/graph_features.h"
#include "millrace/policy/choice_head.h"
#include "millrace/policy/linear_layer.h"
#include "millrace/policy/policy.h"
#include "millrace/policy/weights.h"

// What comes after an encoder that embeds every group once: the condition on temperature and graph, and the two heads
// that score a step's choices from the embeddings. The formulas are in message_passing.h.
namespace millrace {

// relu(condition.1 relu(condition.0 [log temperature, globals])).
class ConditionNetwork {
 public:
  explicit ConditionNetwork(const Weights& weights);
  LaneArray Of(const GraphFeatures& graph, double temperature) const;  // kCondition

 private:
  LinearLayer first_, second_;
};

// exp(clamp(NAME.strength c, -8, 8)): how much each heuristic prior counts.
class StrengthLayer {
 public:
  StrengthLayer(const Weights& weights, const std::string& head, int priors = kGroupPriors);
  LaneArray Of(const LaneArray& condition) const;  // as many as there are priors

 private:
  WeightTensor weight_, bias_;
};

// Immutable and shared between threads.
class StepHeads {
 public:
  explicit StepHeads(const Weights& weights);

  // The heads for one graph: works out what of them is the same in every step. `embeddings` is groups x kWidth,
  // `condition` kCondition. `heads` is kept alive by what is returned.
  static std::unique_ptr<PreparedPolicy> Prepare(std::shared_ptr<const StepHeads> heads, const GraphFeatures& graph,
                                                 const LaneArray& embeddings, const LaneArray& condition);

  const ChoiceHead& group() const { return group_.choice; }
  const ChoiceHead& device() const { return device_.choice; }

 private:
  struct Head {
    Head(const Weights& weights, const std::string& name);

    // groups x kHidden: embed h + condition c.
    LaneArray FirstByGroup(const LaneArray& embeddings, std::size_t groups, const LaneArray& condition_of) const;

    LinearLayer embed, condition;
    ChoiceHead choice;
    StrengthLayer strength;
  };

  Head group_, device_;
  LinearLayer device_first_, device_second_;
};

}  // namespace millrace
