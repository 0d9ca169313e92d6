// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/sampling/suffix_resampling.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "millrace/gflownet/sampling/sampler.h"
#include "millrace/planning/best_of.h"
#include "millrace/planning/deadline.h"
#include "millrace/simulate/peak_memory.h"
#include "millrace/simulate/timeline.h"

namespace millrace {
namespace {

// The first `steps` actions that built the plan.
std::vector<Action> Beginning(const Assignment& plan, std::size_t steps) {
  std::vector<Action> actions(steps);
  for (std::size_t i = 0; i < steps; ++i) {
    const std::int32_t group = plan.sequence[i];
    actions[i] = {group, plan.placement[static_cast<std::size_t>(group)]};
  }
  return actions;
}

class SuffixResampling final : public Planner {
 public:
  SuffixResampling(PlannerTraits traits, std::shared_ptr<const Planner> planner, std::shared_ptr<const Policy> policy,
                   const SuffixResamplingOptions& options)
      : Planner(std::move(traits)), planner_(std::move(planner)), policy_(std::move(policy)), options_(options) {}

  std::int64_t SamplesFor(const PlanningProblem& problem, std::int64_t wanted) const override {
    return SampledPlansFor(problem, wanted);
  }

  void Propose(const PlanningProblem& problem, const Budget& budget, Random& random,
               const Offer& offer) const override {
    const CostedGraph& costed = problem.costed();
    const Deadline whole(budget.seconds);
    const auto suffixes = static_cast<std::int64_t>(options_.share * static_cast<double>(budget.samples));
    Budget drawing = budget;
    drawing.samples -= suffixes;
    if (budget.seconds) drawing.seconds = (1 - options_.share) * *budget.seconds;
    Simulator simulator(costed);
    RatedAssignment best{{}, std::numeric_limits<double>::infinity()};
    const auto take = [&](Assignment plan) {
      const double makespan = simulator.Makespan(plan);
      if (makespan < best.makespan && FitsInMemory(costed, plan)) best = {plan, makespan};
      offer(std::move(plan));
    };
    Random first = random.Fork(kFirst);
    planner_->Propose(problem, drawing, first, [&take](ProposedPlan plan) { take(std::move(plan.assignment)); });
    if (best.assignment.sequence.empty()) return;

    const Environment environment(costed);
    std::vector<std::unique_ptr<PreparedPolicy>> prepared(options_.reward_temperatures.size());
    SamplerOptions sampling{.softmax_temperature = options_.softmax_temperature.Of(costed.num_groups),
                            .threads = options_.threads};
    Random cuts = random.Fork(kCuts);
    const Random anew = random.Fork(kAnew);
    for (std::int64_t round = 0; sampling.first < suffixes && !whole.Passed(); ++round) {
      std::vector<std::vector<Action>> begun(
          static_cast<std::size_t>(std::min<std::int64_t>(options_.round, suffixes - sampling.first)));
      for (std::vector<Action>& actions : begun)
        actions = Beginning(best.assignment, cuts.Below(best.assignment.sequence.size()));
      const std::size_t level = static_cast<std::size_t>(round) % prepared.size();
      // The policy is prepared when it is first used: on a large graph that costs as much as drawing some plans.
      if (!prepared[level]) prepared[level] = policy_->Prepare(environment, options_.reward_temperatures[level]);
      for (Trajectory& drawn : ContinueTrajectories(environment, *prepared[level], begun, sampling, anew))
        take(std::move(drawn.assignment));
      sampling.first += static_cast<std::int64_t>(begun.size());
    }
  }

 private:
  // Independent streams of one generator.
  enum Stream : std::uint64_t { kFirst, kCuts, kAnew };

  std::shared_ptr<const Planner> planner_;
  std::shared_ptr<const Policy> policy_;
  SuffixResamplingOptions options_;
};

}  // namespace

std::unique_ptr<Planner> MakeSuffixResampling(PlannerTraits traits, std::shared_ptr<const Planner> planner,
                                              std::shared_ptr<const Policy> policy,
                                              const SuffixResamplingOptions& options) {
  return std::make_unique<SuffixResampling>(std::move(traits), std::move(planner), std::move(policy), options);
}

}  // namespace millrace
