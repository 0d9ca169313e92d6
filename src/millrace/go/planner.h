// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "millrace/go/decoder.h"
#include "millrace/go/policy.h"
#include "millrace/go/sampler.h"
#include "millrace/planning/registry.h"

// GO's policy as a planner: it decides placement, order and, where that is open, fusion of a whole graph at once.
namespace millrace {

struct GoPlannerOptions {
  int iterations = 3;
  std::vector<double> softmax_temperatures = {0.1, 0.5};  // each has an equal share of the draws
  int looks = 160;                                        // as in GuidedSearchOptions
  double moves_temperature = 0.15;                        // of moves that are tried
  int threads = 1;
};

// Calls offer(decisions, their plan) for budget.samples plans. Every iteration of a draw gives one plan, the last
// iteration first; the first draw takes the likeliest choices, the others are drawn by chance. With budget.seconds it
// begins no more draws than are likely to end in time. Plans are the same at any number of threads. Of `tasks` only
// `tasks` and `given` count. The decoder's problem has at least one op. Throws Interrupted.
void DrawGoPlans(const GoDecoder& decoder, const GoPolicy& policy, const GoPlannerOptions& options,
                 const GoDrawOptions& tasks, const Budget& budget, Random& random,
                 const std::function<void(const Decisions&, DecodedPlan)>& offer);

// Offers the plans of DrawGoPlans, with every task decided that is open; then, with the policy `moves`, the one that
// SearchGuided (go/guided_search.h) makes of the best of them, and annealing (search/anneal_fusion.h) of that. One of
// two plans or more is the search's. Of a time limit draws take a tenth, the policy guides the search for three more,
// and annealing has what is left. Null: no search. Problems need their proxy.
std::unique_ptr<Planner> MakeGoPlanner(PlannerTraits traits, std::shared_ptr<const GoPolicy> policy,
                                       std::shared_ptr<const GoPolicy> moves, const GoPlannerOptions& options);

// Adds `go`, and `go-untrained`, which has the weights that training starts from. `weights` is the file that the draws
// of `go` come from; empty: the one that comes with Millrace. `moves` likewise is that of its moves; where no file came
// with Millrace it has none. Files are read once, when a planner is first made.
void AddGoPlanners(PlannerRegistry& registry, const std::string& weights, const std::string& moves, int threads);

// The file of weights that `go` reads: `named`, or if that is empty the one that comes with Millrace. Throws
// InvalidInput if there is none.
std::string GoWeightsFile(const std::string& named);

// The policies of `go-untrained`.
std::shared_ptr<const GoPolicy> UntrainedGoPolicy();
std::shared_ptr<const GoPolicy> UntrainedMoves();

}  // namespace millrace
