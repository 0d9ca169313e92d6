// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "millrace/cost/cost_model.h"
#include "millrace/env/decisions.h"
#include "millrace/env/one_shot_features.h"
#include "millrace/env/one_shot_problem.h"
#include "millrace/graph/computation_graph.h"
#include "millrace/machine/machine.h"
#include "millrace/random/random.h"
#include "millrace/rollout/one_shot_plan.h"

// A graph on a machine that GO trains on, and how good decisions about it are. Seconds.
namespace millrace {

// Immutable once made, so threads may share it.
class GoProblem {
 public:
  // Throws InvalidInput for a graph without ops, WorkFailed where an op can run nowhere.
  GoProblem(std::string name, ComputationGraph graph, Machine machine);

  const std::string& name() const { return name_; }
  const ComputationGraph& graph() const { return *graph_; }
  const Machine& machine() const { return *machine_; }
  const OneShotProblem& one_shot() const { return *one_shot_; }
  const OneShotFeatures& features() const { return features_; }

  // What times are compared with: the better of everything on one device and a placement by layers
  // (heuristics/placements.h), on greedy fusion and under contention; where neither fits in memory, all work on the
  // fastest devices.
  double reference_seconds() const { return reference_seconds_; }

  const OneShotDecoder& decoder() const { return *decoder_; }

  // Of the plan that decisions come to, under contention; infinity where it does not fit in memory.
  double Seconds(const Decisions& decisions) const;

 private:
  std::string name_;
  std::unique_ptr<const ComputationGraph> graph_;
  std::unique_ptr<const Machine> machine_;
  std::unique_ptr<const CostModel> model_;
  std::unique_ptr<const OneShotProblem> one_shot_;
  std::unique_ptr<const OneShotDecoder> decoder_;
  OneShotFeatures features_;
  double reference_seconds_ = 1;
};

// What is known to be good for a problem.
struct KnownDecisions {
  Decisions decisions = {};
  double seconds = 0;  // GoProblem::Seconds of them; infinity: nothing that fits is known
};

struct ExpertOptions {
  std::int64_t evaluations = 1000;
  std::optional<double> seconds;     // wall time
  const Decisions* start = nullptr;  // whose fusion is kept; none: greedy fusion, and the search's own starts
};

// The decisions behind the plan that a search under contention finds (search/placement_search.h) within so many
// evaluations. Devices that can stand for one another are renamed so that their work comes in the order of their
// numbers, unless that takes longer than a little (nothing, with a start): what distinguishes equal devices is their
// place in that order alone. Never worse than the start.
struct ExpertAnswer {
  KnownDecisions known;
  std::int64_t evaluations = 0;
};

ExpertAnswer AskExperts(const GoProblem& problem, const ExpertOptions& options, Random& random);

}  // namespace millrace
