// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/gflownet/sampling/exact_flow.h"
#include "millrace/random/random.h"
#include "millrace/train/gflownet/batch.h"

// What the exact flow asks of the states that its own plans are built through: every choice of each of them, with the
// probability that it should have. A policy that gives all choices these probabilities draws in proportion to the
// reward, and unlike trajectories that are drawn and judged, they carry no noise of their own.
namespace millrace {

// Draws `settings.trajectories` plans by the flow, with `settings.epsilon` of uniform choice so that the policy learns
// what to do off the way, too. The batch has one "step" for each choice of the states on the way; what is wanted of it
// is weighted by how often a trajectory comes by. For networks that encode states.
void MakeExactBatch(const Environment& environment, const StateGraph& graph, double temperature,
                    const BatchSettings& settings, Random random, TrajectoryBatch& batch);

}  // namespace millrace
