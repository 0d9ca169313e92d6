// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "millrace/env/decision_features.h"
#include "millrace/env/one_shot_features.h"
#include "millrace/policy/choice_head.h"
#include "millrace/policy/linear_layer.h"
#include "millrace/policy/step_heads.h"
#include "millrace/policy/weights.h"

// The heads of sage.h: from the states u of rows to logits. Both score the rows [first, first + count); `states` is
// rows x kWidth. Immutable and shared between threads.
namespace millrace {

// A device for every row: "place".
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
  Tables Prepare(const OneShotFeatures& graph, const LaneArray& condition) const;

  // logits: by row x devices, those of devices that are closed to a row among them.
  void Score(const Tables& tables, const DecisionObservation& before, const float* states, std::size_t first,
             std::size_t count, std::span<float> logits) const;

 private:
  LinearLayer embed_, condition_, device_first_, device_second_;
  ChoiceHead choice_;
  StrengthLayer strength_;
};

// A level for every row: "priority" or "fusion".
class LevelHead {
 public:
  LevelHead(const Weights& weights, const std::string& name);

  struct Tables {
    LaneArray condition;  // kHidden
    LaneArray strengths;
  };
  Tables Prepare(const LaneArray& condition) const;

  // logits: by row x kLevels. `levels`, `centres`: env/decision_features.h.
  void Score(const Tables& tables, const std::vector<float>& levels, const std::vector<float>& centres,
             const float* states, std::size_t first, std::size_t count, std::span<float> logits) const;

 private:
  LinearLayer embed_, condition_, features_, hidden_, out_;
  StrengthLayer strength_;
};

// logits, ties x devices: the mean over the tie's rows, kClosedLogit where the tie cannot run.
void MeanOverTies(const OneShotProblem& problem, const std::vector<float>& row_logits, std::vector<float>& logits);

}  // namespace millrace
