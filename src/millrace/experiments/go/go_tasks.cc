// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/go/go_tasks.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "millrace/go/planner.h"
#include "millrace/heuristics/placements.h"
#include "millrace/search/placement_search.h"
#include "millrace/simulate/contention.h"

namespace millrace {
namespace {

struct GoVariant {
  const char* name;
  std::vector<GoTasks> apart;  // each optimised by itself
};

const std::vector<GoVariant>& Variants() {
  constexpr GoTasks kPlacement = {true, false, false}, kPriority = {false, true, false}, kFusion = {false, false, true};
  static const std::vector<GoVariant> variants = {{"pl-only", {kPlacement}},
                                                  {"pl|sch", {kPlacement, kPriority}},
                                                  {"pl+sch", {{true, true, false}}},
                                                  {"sch+fu", {{false, true, true}}},
                                                  {"pl|sch|fu", {kPlacement, kPriority, kFusion}},
                                                  {"pl+sch+fu", {{true, true, true}}}};
  return variants;
}

bool Decides(const GoTasks& tasks, Task task) { return tasks[static_cast<std::size_t>(task)]; }

struct GoDecided {
  Decisions decisions;
  DecodedPlan plan;  // of them
};

// One workload and seed.
class TaskStudy {
 public:
  TaskStudy(const GoRow& row, const GoPolicyFor& policy_for, const GoTaskOptions& options, std::uint64_t seed)
      : row_(row), policy_for_(policy_for), options_(options), seed_(seed), problem_(*row.model), decoder_(problem_) {}

  std::optional<GoPlan> Answer(const std::vector<GoTasks>& apart) const {
    Decisions together;
    for (const GoTasks& tasks : apart) {
      std::optional<GoDecided> decided = Optimise(tasks);
      if (!decided) return std::nullopt;
      if (apart.size() == 1) return ToGoPlan(std::move(decided->plan));
      if (Decides(tasks, Task::kPlacement)) together.device = std::move(decided->decisions.device);
      if (Decides(tasks, Task::kPriority)) together.priority = std::move(decided->decisions.priority);
      if (Decides(tasks, Task::kFusion)) together.fusion = std::move(decided->decisions.fusion);
    }
    return ToGoPlan(decoder_.Decode(together));
  }

 private:
  static GoPlan ToGoPlan(DecodedPlan plan) { return {std::move(plan.costed), std::move(plan.assignment)}; }

  // The fastest of the draws on the target; nothing where none fits in memory.
  std::optional<GoDecided> Optimise(const GoTasks& tasks) const {
    GoDrawOptions drawing;
    drawing.tasks = tasks;
    if (!Decides(tasks, Task::kPlacement))
      drawing.given.device = DevicesByColocation(problem_, row_.fused, PlaceByLayers(row_.fused));
    Budget budget;
    budget.samples = options_.plans;
    Random random(seed_);
    std::optional<GoDecided> best;
    double least = std::numeric_limits<double>::infinity();
    DrawGoPlans(decoder_, *policy_for_(row_, tasks, seed_), {}, drawing, budget, random,
                [&](const Decisions& decisions, DecodedPlan plan) {
                  const std::optional<double> seconds = ContendedSeconds(*plan.costed, plan.assignment);
                  if (!seconds || *seconds >= least) return;
                  least = *seconds;
                  best = GoDecided{decisions, std::move(plan)};
                });
    if (best && Decides(tasks, Task::kPlacement) && options_.search > 0) return Searched(tasks, std::move(*best));
    return best;
  }

  std::optional<GoDecided> Searched(const GoTasks& tasks, GoDecided decided) const {
    PlacementSearchOptions search;
    search.seconds = options_.search;
    search.starts = {{decided.plan.assignment.placement, decided.plan.priorities}};
    search.keep_order = !Decides(tasks, Task::kPriority);
    Random random(seed_);
    std::optional<FoundPlacement> found = SearchPlacement(*decided.plan.costed, search, random);
    if (!found) return std::nullopt;
    decided.plan.assignment = std::move(found->assignment);
    decided.decisions.device = DevicesByColocation(problem_, *decided.plan.costed, decided.plan.assignment.placement);
    return decided;
  }

  const GoRow& row_;
  const GoPolicyFor& policy_for_;
  const GoTaskOptions& options_;
  std::uint64_t seed_;
  GoProblem problem_;
  GoDecoder decoder_;
};

}  // namespace

std::vector<GoMethod> GoTaskMethods(const GoPolicyFor& policy_for, const GoTaskOptions& options) {
  std::vector<GoMethod> methods;
  for (const GoVariant& variant : Variants()) {
    GoMethod& method = methods.emplace_back();
    method.name = variant.name + options.suffix;
    method.budget = fmt::format("{} plans", options.plans);
    const bool places = std::any_of(variant.apart.begin(), variant.apart.end(),
                                    [](const GoTasks& tasks) { return Decides(tasks, Task::kPlacement); });
    if (places && options.search > 0) method.budget += fmt::format(", then {} s", options.search);
    method.seeded = true;
    method.plan = [policy_for, options, &variant](const GoRow& row, std::uint64_t seed, std::optional<double>) {
      return TaskStudy(row, policy_for, options, seed).Answer(variant.apart);
    };
  }
  return methods;
}

}  // namespace millrace
