// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/go/decision_features.h"
#include "millrace/go/features.h"
#include "tests/reference/slow_network.h"

// The formulas of go/network.h written down a second time, as slow_network.h does those of the other networks.
namespace millrace::testing {

struct SlowGoEmbedding {
  std::vector<Row> states;  // z
  Row condition;            // c
};

SlowGoEmbedding SlowSage(const Weights& weights, const GoFeatures& graph);

// One iteration. `decisions`: what is chosen of each task that is scored; logits by task as GoPass gives them,
// empty for those left out.
std::vector<Row> SlowIteration(const Weights& weights, const GoProblem& problem, const GoFeatures& graph,
                               const SlowGoEmbedding& embedding, const DecisionObservation& before,
                               const Decisions& decisions);

}  // namespace millrace::testing
