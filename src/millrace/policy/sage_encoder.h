// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/env/one_shot_features.h"
#include "millrace/policy/linear_layer.h"
#include "millrace/policy/one_shot_policy.h"
#include "millrace/policy/segment_layer.h"
#include "millrace/policy/weights.h"

// The encoder of sage.h: embeds all ops of a graph, from features to z and the condition. Immutable; time and memory
// linear in ops + edges.
namespace millrace {

struct SageEmbedding {
  LaneArray states;     // z: rows x kWidth
  LaneArray condition;  // c: kCondition
};

class SageEncoder {
 public:
  explicit SageEncoder(const Weights& weights);

  // Throws Interrupted.
  SageEmbedding Encode(const OneShotFeatures& graph, const ParallelLoop& loop) const;

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
  void Pass(const Round& round, const OneShotFeatures& graph, const ParallelLoop& loop, LaneArray& states) const;
  LaneArray Condition(const OneShotFeatures& graph, const LaneArray& states) const;

  LinearLayer input_, condition_first_, condition_second_;
  std::vector<Round> rounds_;
  std::vector<SegmentLayer> layers_;
  LaneArray norm_weight_, norm_bias_;
};

}  // namespace millrace
