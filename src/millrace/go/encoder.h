// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/go/features.h"
#include "millrace/go/policy.h"
#include "millrace/go/segment_layer.h"
#include "millrace/network/linear_layer.h"
#include "millrace/network/weights.h"

// The encoder of network.h: embeds all ops of a graph, from their features to z and the condition c. Immutable. Time
// and memory are linear in ops + edges.
namespace millrace {

struct GoEmbedding {
  LaneArray states;     // z: rows x kWidth
  LaneArray condition;  // c: kCondition
};

class GoEncoder {
 public:
  explicit GoEncoder(const Weights& weights);

  // Throws Interrupted.
  GoEmbedding Encode(const GoFeatures& graph, const ParallelLoop& loop) const;

 private:
  struct Direction {
    LinearLayer message;
    LaneArray edge;  // kMessage
  };
  struct Round {
    Direction forward, backward;
    LinearLayer mix;
  };
  static Direction TakeDirection(const Weights& weights, const std::string& name);
  void Pass(const Round& round, const GoFeatures& graph, const ParallelLoop& loop, LaneArray& states) const;
  LaneArray Condition(const GoFeatures& graph, const LaneArray& states) const;

  LinearLayer input_, condition_first_, condition_second_;
  std::vector<Round> rounds_;
  std::vector<SegmentLayer> layers_;
  LaneArray norm_weight_, norm_bias_;
};

}  // namespace millrace
