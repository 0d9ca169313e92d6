// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/env/graph_features.h"
#include "millrace/policy/linear_layer.h"
#include "millrace/policy/weights.h"

// The encoder of message_passing.h: embeds all groups of a graph. Immutable; time and memory linear in groups + edges.
namespace millrace {

class MessagePassingEncoder {
 public:
  explicit MessagePassingEncoder(const Weights& weights);

  // groups x kWidth. `condition` is kCondition. Throws Interrupted when the user asks to stop.
  LaneArray Encode(const GraphFeatures& graph, const LaneArray& condition) const;

 private:
  struct Direction {
    LinearLayer message;
    LaneArray edge;  // kMessage
  };
  struct Round {
    Direction forward, backward;
    LinearLayer mix, scale, shift, out;
  };
  static Direction TakeDirection(const Weights& weights, const std::string& name);
  void Pass(const Round& round, const GraphFeatures& graph, const LaneArray& condition, LaneArray& embeddings) const;

  LinearLayer input_;
  std::vector<Round> rounds_;
};

}  // namespace millrace
