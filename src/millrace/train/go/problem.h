// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "millrace/cost/cost_model.h"
#include "millrace/go/blocks.h"
#include "millrace/go/decisions.h"
#include "millrace/go/decoder.h"
#include "millrace/go/features.h"
#include "millrace/go/problem.h"
#include "millrace/graph/computation_graph.h"
#include "millrace/machine/machine.h"

// A graph on a machine that GO trains on, and how good decisions about it are. Times are seconds.
namespace millrace {

// Immutable once made, so threads may share it.
class GoTrainingProblem {
 public:
  // Throws InvalidInput for a graph without ops, WorkFailed where an op can run nowhere.
  GoTrainingProblem(std::string name, ComputationGraph graph, Machine machine);

  const std::string& name() const { return name_; }
  const ComputationGraph& graph() const { return *graph_; }
  const Machine& machine() const { return *machine_; }
  const GoProblem& problem() const { return *problem_; }
  const GoFeatures& features() const { return features_; }

  // What times are compared with: the better of everything on one device and a placement by layers
  // (heuristics/placements.h), on greedy fusion and under contention; where neither fits in memory, all work on the
  // fastest devices.
  double reference_seconds() const { return reference_seconds_; }
  bool has_plan() const { return has_plan_; }  // whether one of the two fits

  const GoDecoder& decoder() const { return *decoder_; }

  // The coarsest blocks of at least `fewest` (go/blocks.h), of greedy fusion.
  GoBlocks BlocksOf(int fewest) const;

  // Of the plan that decisions come to, under contention; infinity where it does not fit in memory.
  double Seconds(const Decisions& decisions) const;

 private:
  std::string name_;
  std::unique_ptr<const ComputationGraph> graph_;
  std::unique_ptr<const Machine> machine_;
  std::unique_ptr<const CostModel> model_;
  std::unique_ptr<const GoProblem> problem_;
  std::unique_ptr<const GoDecoder> decoder_;
  GoFeatures features_;
  double reference_seconds_ = 1;
  bool has_plan_ = false;
};

// What is known to be good for a problem.
struct KnownDecisions {
  Decisions decisions = {};
  double seconds = 0;  // GoTrainingProblem::Seconds of them; infinity: nothing that fits is known
};

}  // namespace millrace
