// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/redrawn_source.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "millrace/heuristics/best_of.h"
#include "millrace/optimize/deadline.h"
#include "millrace/rollout/sampler.h"
#include "millrace/simulate/peak_memory.h"
#include "millrace/simulate/timeline.h"

namespace millrace {
namespace {

// The first steps that built a plan, so many of them.
std::vector<Action> Beginning(const Assignment& plan, std::size_t steps) {
  std::vector<Action> actions(steps);
  for (std::size_t i = 0; i < steps; ++i) {
    const std::int32_t group = plan.sequence[i];
    actions[i] = {group, plan.placement[static_cast<std::size_t>(group)]};
  }
  return actions;
}

class RedrawnSource final : public CandidateSource {
 public:
  RedrawnSource(std::shared_ptr<const CandidateSource> source, std::shared_ptr<const Policy> policy,
                const RedrawnSourceOptions& options)
      : source_(std::move(source)), policy_(std::move(policy)), options_(options) {}

  std::string name() const override { return options_.name; }

  void Propose(const CostedGraph& costed, const SourceBudget& budget, Random& random,
               const std::function<void(Assignment)>& offer) const override {
    const Deadline whole(budget.seconds);
    const auto redraws = static_cast<std::int64_t>(options_.share * static_cast<double>(budget.samples));
    SourceBudget drawing = budget;
    drawing.samples -= redraws;
    if (budget.seconds) drawing.seconds = (1 - options_.share) * *budget.seconds;
    Simulator simulator(costed);
    RatedAssignment best{{}, std::numeric_limits<double>::infinity()};
    const auto take = [&](Assignment plan) {
      const double makespan = simulator.Makespan(plan);
      if (makespan < best.makespan && FitsInMemory(costed, plan)) best = {plan, makespan};
      offer(std::move(plan));
    };
    Random first = random.Fork(kFirst);
    source_->Propose(costed, drawing, first, take);
    if (best.assignment.sequence.empty()) return;

    const Environment environment(costed);
    std::vector<std::unique_ptr<PreparedPolicy>> prepared(options_.temperatures.size());
    SamplerOptions sampling{.softmax_temperature = options_.softmax_temperature.Of(costed.num_groups),
                            .threads = options_.threads};
    Random cuts = random.Fork(kCuts);
    const Random anew = random.Fork(kAnew);
    for (std::int64_t round = 0; sampling.first < redraws && !whole.Passed(); ++round) {
      std::vector<std::vector<Action>> begun(
          static_cast<std::size_t>(std::min<std::int64_t>(options_.round, redraws - sampling.first)));
      for (std::vector<Action>& actions : begun)
        actions = Beginning(best.assignment, cuts.Below(best.assignment.sequence.size()));
      const std::size_t level = static_cast<std::size_t>(round) % prepared.size();
      // Of a large graph few plans are drawn, and preparing costs as much as some of them.
      if (!prepared[level]) prepared[level] = policy_->Prepare(environment, options_.temperatures[level]);
      for (Trajectory& drawn : ContinueTrajectories(environment, *prepared[level], begun, sampling, anew))
        take(std::move(drawn.assignment));
      sampling.first += static_cast<std::int64_t>(begun.size());
    }
  }

 private:
  // Independent streams of one generator.
  enum Stream : std::uint64_t { kFirst, kCuts, kAnew };

  std::shared_ptr<const CandidateSource> source_;
  std::shared_ptr<const Policy> policy_;
  RedrawnSourceOptions options_;
};

}  // namespace

std::unique_ptr<CandidateSource> MakeRedrawnSource(std::shared_ptr<const CandidateSource> source,
                                                   std::shared_ptr<const Policy> policy,
                                                   const RedrawnSourceOptions& options) {
  return std::make_unique<RedrawnSource>(std::move(source), std::move(policy), options);
}

}  // namespace millrace
