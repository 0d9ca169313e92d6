// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "millrace/go/decision_features.h"
#include "millrace/go/features.h"
#include "millrace/network/choice_head.h"
#include "millrace/network/linear_layer.h"
#include "millrace/network/strength_layer.h"
#include "millrace/network/weights.h"

// The heads of network.h: from the states u of rows to logits. Both score the rows [first, first + count); `states` is
// rows x kWidth. Heads are immutable and may be shared between threads.
namespace millrace {

// The head "place": a device for every row.
class PlaceHead {
 public:
  explicit PlaceHead(const Weights& weights);

  // What is the same for all rows of a graph.
  struct Tables {
    LaneArray devices;    // by device x kHidden
    LaneArray condition;  // kHidden
    LaneArray strengths;
    std::vector<std::int32_t> ids;  // 0 .. devices - 1
  };
  Tables Prepare(const GoFeatures& graph, const LaneArray& condition) const;

  // `logits` is rows x devices. Devices that cannot run a row are scored, too.
  void Score(const Tables& tables, const DecisionObservation& before, const float* states, std::size_t first,
             std::size_t count, std::span<float> logits) const;

 private:
  LinearLayer embed_, condition_, device_first_, device_second_;
  ChoiceHead choice_;
  StrengthLayer strength_;
};

// The head "priority" or "fusion": a level for every row.
class LevelHead {
 public:
  LevelHead(const Weights& weights, const std::string& name);

  struct Tables {
    LaneArray condition;  // kHidden
    LaneArray strengths;
  };
  Tables Prepare(const LaneArray& condition) const;

  // `logits` is rows x kLevels; `levels` and `centres` are those of DecisionObservation.
  void Score(const Tables& tables, const std::vector<float>& levels, const std::vector<float>& centres,
             const float* states, std::size_t first, std::size_t count, std::span<float> logits) const;

 private:
  LinearLayer embed_, condition_, features_, hidden_, out_;
  StrengthLayer strength_;
};

// Fills `logits`, colocations x devices: the mean over the rows of a colocation, kClosedLogit where it cannot run.
void MeanOverColocations(const GoProblem& problem, const std::vector<float>& row_logits, std::vector<float>& logits);

}  // namespace millrace
