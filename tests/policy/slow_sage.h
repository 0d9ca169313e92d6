// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/env/decision_features.h"
#include "millrace/env/one_shot_features.h"
#include "tests/policy/slow_network.h"

// The formulas of policy/sage.h written down a second time, as slow_network.h does those of the other networks.
namespace millrace::testing {

struct SlowSageEmbedding {
  std::vector<Row> states;  // z
  Row condition;            // c
};

SlowSageEmbedding SlowSage(const Weights& weights, const OneShotFeatures& graph);

// One iteration. `decisions`: what is chosen of each task that is scored; logits by task as OneShotPass gives them,
// empty for those left out.
std::vector<Row> SlowIteration(const Weights& weights, const OneShotProblem& problem, const OneShotFeatures& graph,
                               const SlowSageEmbedding& embedding, const DecisionObservation& before,
                               const Decisions& decisions);

}  // namespace millrace::testing
