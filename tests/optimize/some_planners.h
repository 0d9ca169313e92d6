// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/gflownet/policy/message_passing.h"
#include "millrace/go/network.h"
#include "millrace/optimize/planners.h"
#include "tests/reference/costed_problem.h"
#include "tests/reference/shaken_weights.h"
#include "tests/reference/temporary_folder.h"

// All planners there are, and what they offer.
namespace millrace::testing {

// Weights nobody trained, so that learned planners can be asked in any build. Those that training starts from make all
// choices alike, and these do not.
inline const PlannerFiles& SomeWeights() {
  static const TemporaryFolder folder;
  static const PlannerFiles files = [] {
    PlannerFiles made{.gflownet_weights = folder.Path("gflownet.safetensors"),
                      .go_weights = folder.Path("go.safetensors"),
                      .go_moves_weights = folder.Path("go-moves.safetensors")};
    Random random(3);
    Weights gflownet = InitialMessagePassingWeights(random);
    LookAhead(gflownet);
    WriteWeights(made.gflownet_weights, Shaken(gflownet, random, 0.1));
    WriteWeights(made.go_weights, Shaken(InitialGoWeights(random), random, 0.1));
    WriteWeights(made.go_moves_weights, Shaken(InitialGoMoveWeights(random), random, 0.1));
    return made;
  }();
  return files;
}

inline const PlannerRegistry& PlannersWithSomeWeights() {
  static const PlannerRegistry planners = MakePlannerRegistry(SomeWeights());
  return planners;
}

// A problem with the groups given and, for planners that choose fusion, the same with fusion open.
inline std::vector<PlanningProblem> ProblemsFor(const PlannerTraits& traits, const CostedProblem& given) {
  std::vector<PlanningProblem> problems = {PlanningProblem(*given.model, given.costed)};
  if (traits.chooses_fusion) problems.emplace_back(*given.model);
  return problems;
}

inline const CostedGraph& GroupsOf(const PlanningProblem& problem, const ProposedPlan& offer) {
  return problem.fusion_open() ? *offer.costed : problem.costed();
}

inline Plan PlanOf(const PlanningProblem& problem, const ProposedPlan& offer) {
  return {GroupsOf(problem, offer).groups, offer.assignment.placement, offer.assignment.sequence};
}

inline std::vector<ProposedPlan> OffersOf(const Planner& planner, const PlanningProblem& problem, const Budget& budget,
                                          std::uint64_t seed) {
  std::vector<ProposedPlan> offers;
  Random random(seed);
  planner.Propose(problem, budget, random, [&offers](ProposedPlan offer) { offers.push_back(std::move(offer)); });
  return offers;
}

inline std::vector<Plan> PlansOf(const Planner& planner, const PlanningProblem& problem, const Budget& budget,
                                 std::uint64_t seed) {
  std::vector<Plan> plans;
  for (const ProposedPlan& offer : OffersOf(planner, problem, budget, seed)) plans.push_back(PlanOf(problem, offer));
  return plans;
}

inline Budget SmallBudget(std::int64_t samples) {
  Budget budget;
  budget.samples = samples;
  budget.iterations = 400;
  return budget;
}

// What Make says against the settings; empty where it makes the planner.
inline std::string RefusalOf(const std::string& name, const PlannerSettings& settings) {
  try {
    PlannersWithSomeWeights().Make(name, settings);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "";
}

inline PlannerSettings With(const std::string& option, std::vector<double> values) {
  PlannerSettings settings;
  settings.Set(option, std::move(values));
  return settings;
}

}  // namespace millrace::testing
