// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "millrace/env/decisions.h"
#include "millrace/experiments/go_row.h"
#include "millrace/policy/one_shot_policy.h"
#include "millrace/rollout/one_shot_plan.h"

// The ways of planning the GO paper's workloads that are held against each other. Seconds.
namespace millrace {

struct GoPlan {
  std::shared_ptr<const CostedGraph> costed;  // of its groups; at the latest gone with the problem
  Assignment assignment;
};

// Of a graph that the row owns.
std::shared_ptr<const CostedGraph> OwnedByRow(const CostedGraph& costed);

struct GoMethod {
  std::string name;
  bool seeded = false;  // its plans depend on the seed
  // Nothing where it finds no plan. Plans that do not fit in memory are handed out, too: the judge says so.
  std::function<std::optional<GoPlan>(const GoRow&, std::uint64_t seed)> plan;
};

// Placements that run in order of readiness, with greedy fusion, as a framework would run them: `single`, everything on
// one device; `tf-default`, on the next once a memory is full; `human` and `metis` (heuristics/placements.h). On the
// same groups `expert`, which is human in order of upward rank where that is better by the proxy, `heft`, `etf`, and
// for so many seconds each `anneal` and `contended-search`, which knows the target and asks it about every placement it
// tries (search/placement_search.h).
std::vector<GoMethod> GoBaselines(double search_seconds);

// Which tasks the one-shot policy decides; the others have their defaults (env/decisions.h).
using GoTasks = std::array<bool, kTasks.size()>;

struct GoDraws {
  GoTasks tasks = {true, true, true};
  int draws = 16;
  int measured = 1;  // the best by the proxy of so many go to the target: 1 leaves the choice to the proxy alone
  int threads = 1;
};

struct GoDecided {
  Decisions decisions;
  OneShotPlan plan;  // of them
};

// The best of what the policy draws for a workload, its likeliest choices first among them. The first draws are those
// of a smaller number. Nothing where none fits in memory.
std::optional<GoDecided> BestGoDecisions(const GoRow& row, const OneShotPolicy& policy, const GoDraws& options,
                                         std::uint64_t seed);

// The policy to use for a workload where these tasks are decided: the same for all, or one that was fitted to it.
using GoPolicyFor =
    std::function<std::shared_ptr<const OneShotPolicy>(const GoRow&, const GoTasks&, std::uint64_t seed)>;

GoMethod GoOneShot(std::string name, GoPolicyFor policy_for, const GoDraws& options);

// `go+search`: what the policy answers is where a contended search begins; so many seconds for both.
GoMethod GoSearched(const GoPolicyFor& policy_for, const GoDraws& options, double seconds);

// GO's study of several tasks: `pl-only`, `pl|sch` (the tasks optimised one by one, then put together), `pl+sch`
// (together), `sch+fu`, `pl|sch|fu`, `pl+sch+fu`. Each optimisation has options.draws draws and measures
// options.measured of them; options.tasks is not looked at.
//
// Above 0 search_seconds a contended search of so many seconds follows where the placement is decided; the order is
// the search's business, too, where it is decided with the placement.
std::vector<GoMethod> GoTaskMethods(const GoPolicyFor& policy_for, const GoDraws& options, double search_seconds);

}  // namespace millrace
