// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "millrace/gflownet/environment/graph_features.h"
#include "millrace/gflownet/policy/policy.h"
#include "millrace/network/choice_head.h"
#include "millrace/network/linear_layer.h"
#include "millrace/network/strength_layer.h"
#include "millrace/network/weights.h"

// The parts of a network whose encoder embeds every group once: the condition on reward temperature and graph, and the
// two heads that score a step's choices from the embeddings. The formulas are in message_passing.h.
namespace millrace {

// c = relu(condition.1 relu(condition.0 [t, G])).
class ConditionNetwork {
 public:
  explicit ConditionNetwork(const Weights& weights);
  LaneArray Of(const GraphFeatures& graph, double temperature) const;  // kCondition

 private:
  LinearLayer first_, second_;
};

// Immutable, so threads may share it.
class StepHeads {
 public:
  explicit StepHeads(const Weights& weights);

  // The heads for one graph, with all that is the same in every step computed. `embeddings` is groups x kWidth,
  // `condition` has size kCondition. The returned policy keeps `heads` alive.
  static std::unique_ptr<PreparedPolicy> Prepare(std::shared_ptr<const StepHeads> heads, const GraphFeatures& graph,
                                                 const LaneArray& embeddings, const LaneArray& condition);

  const ChoiceHead& group() const { return group_.choice; }
  const ChoiceHead& device() const { return device_.choice; }

 private:
  struct Head {
    Head(const Weights& weights, const std::string& name);

    // embed h + condition c, groups x kHidden.
    LaneArray FirstByGroup(const LaneArray& embeddings, std::size_t groups, const LaneArray& condition_of) const;

    LinearLayer embed, condition;
    ChoiceHead choice;
    StrengthLayer strength;
    std::optional<StrengthLayer> ahead;  // of what a policy that looks ahead is shown besides
  };

  Head group_, device_;
  LinearLayer device_first_, device_second_;
};

}  // namespace millrace
