// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/gflownet/environment/graph_features.h"
#include "millrace/network/linear_layer.h"
#include "millrace/network/weights.h"

// The encoder of message_passing.h: embeds all groups of a graph. Immutable. Time and memory are linear in groups +
// edges.
namespace millrace {

class MessagePassingEncoder {
 public:
  explicit MessagePassingEncoder(const Weights& weights);

  // The embeddings, groups x kWidth. `condition` has size kCondition. Throws Interrupted when the user asks to stop.
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
  struct Messages {
    LaneArray forward, backward;  // groups x kMessage
  };
  void Pass(const Round& round, const GraphFeatures& graph, const LaneArray& condition, Messages& messages,
            LaneArray& embeddings) const;

  LinearLayer input_;
  std::vector<Round> rounds_;
};

}  // namespace millrace
