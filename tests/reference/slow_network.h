// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "millrace/gflownet/environment/graph_features.h"
#include "millrace/gflownet/environment/observation.h"
#include "millrace/gflownet/environment/state.h"
#include "millrace/gflownet/policy/state_features.h"
#include "millrace/network/weights.h"

// The formulas of gflownet/policy/message_passing.h and gflownet/policy/topoformer.h written down a second time, as
// plainly as possible and in double precision: one row at a time, no tables, no shared code with src/ but the weights.
// What the fast inference says is held against this.
namespace millrace::testing {

using Row = std::vector<double>;

Row Relu(Row x);
Row Plus(Row x, const Row& y);
Row Joined(const std::vector<Row>& parts);
Row RowOf(const std::vector<float>& values, std::size_t row, std::size_t width);

// W x + b, the bias where there is one.
Row SlowLinear(const Weights& weights, const std::string& layer, const Row& x);

Row SlowCondition(const Weights& weights, const GraphFeatures& graph, double temperature);
std::vector<Row> SlowMessagePassing(const Weights& weights, const GraphFeatures& graph, const Row& condition);

// Logits of an observation's choices from the embeddings of all groups; for the device choice of `group`, or of groups
// where it is -1.
Row SlowLogits(const Weights& weights, const GraphFeatures& graph, const std::vector<Row>& embeddings,
               const Row& condition, int group, const Observation& observation);

// What j is to i, from gflownet/policy/group_relations.h, by looking for paths.
int SlowRelation(const CostedGraph& costed, int i, int j);

// The layers of gflownet/policy/topoformer.h on what enters the first. `links` empty for "graph".
std::vector<Row> SlowTopoformer(const Weights& weights, const CostedGraph& costed, const GraphFeatures& graph,
                                const std::vector<StateFeatures::Link>& links, const Row& condition,
                                std::vector<Row> rows);

// J of a group's devices, in the order of the observation, and what enters the layers, for "state".
Row SlowPlace(const Weights& weights, const GraphFeatures& graph, const StateFeatures& state, int device);
// The completions of each choice: as features, and times groups / temperature as priors of the head "completion".
Observation CompletionsOf(const State& state, int group, const Observation& devices, double temperature);
Row SlowJoint(const Weights& weights, const GraphFeatures& graph, const StateFeatures& state, const Row& embedding,
              const Row& condition, const Observation& devices, const Observation& completions);

// sum_k strength_k prior_k of one choice.
double SlowPrior(const Weights& weights, const std::string& head, const Row& condition, const Observation& observation,
                 std::size_t choice);

}  // namespace millrace::testing
