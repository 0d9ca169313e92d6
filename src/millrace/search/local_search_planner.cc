// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/local_search_planner.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "millrace/heuristics/upward_rank.h"
#include "millrace/planning/best_of.h"
#include "millrace/planning/deadline.h"
#include "millrace/planning/diverse.h"

namespace millrace {
namespace {

// What is left of a search's budget, of which at least one kind is limited.
class Remainder {
 public:
  Remainder(const std::optional<std::int64_t>& changes, bool timed, const Deadline& whole)
      : changes_(changes), timed_(timed), search_(whole.Left()) {}

  bool gone() const { return (changes_ && *changes_ <= 0) || (timed_ && search_.Passed()); }

  void Limit(double share, LocalSearchOptions& improving) const {
    if (changes_) improving.iterations = std::llround(share * static_cast<double>(*changes_));
    if (timed_) improving.seconds = share * search_.Left();
  }

  void Spend(std::int64_t changes) {
    tried_ += changes;
    if (changes_) *changes_ -= changes;
  }

  // How many changes can still be tried, going by those so far.
  double Changes() const {
    double most = changes_ ? static_cast<double>(*changes_) : std::numeric_limits<double>::max();
    if (timed_) most = std::min(most, static_cast<double>(tried_) / std::max(search_.Elapsed(), 1e-9) * search_.Left());
    return most;
  }

 private:
  std::optional<std::int64_t> changes_;
  bool timed_;
  Deadline search_;
  std::int64_t tried_ = 0;
};

class LocalSearchPlanner final : public Planner {
 public:
  LocalSearchPlanner(PlannerTraits traits, std::shared_ptr<const Planner> planner,
                     const LocalSearchPlannerOptions& options)
      : Planner(std::move(traits)), planner_(std::move(planner)), options_(options) {}

  std::int64_t SamplesFor(const PlanningProblem& problem, std::int64_t wanted) const override {
    // One sample would read as "as many as you like".
    return std::max<std::int64_t>(2, planner_->SamplesFor(problem, wanted));
  }

  void Propose(const PlanningProblem& problem, const Budget& budget, Random& random,
               const Offer& offer) const override {
    const CostedGraph& costed = problem.costed();
    const Deadline whole(budget.seconds);
    Budget drawing;
    drawing.samples = budget.samples > 1 ? std::min(budget.samples, options_.samples) : options_.samples;
    if (budget.seconds) drawing.seconds = options_.sample_share * *budget.seconds;
    Random stream = random.Fork(0);
    std::vector<RatedAssignment> drawn =
        RunPlanner(*planner_, problem, drawing, stream, static_cast<std::size_t>(drawing.samples)).kept;
    for (const RatedAssignment& plan : drawn) offer(plan.assignment);

    const std::vector<RatedAssignment> starts = SelectDiverse(costed, std::move(drawn),
                                                              {.keep = static_cast<std::size_t>(options_.starts),
                                                               .least_distance = options_.least_distance,
                                                               .repeats = true});
    if (starts.empty()) return;
    std::optional<std::int64_t> changes = budget.iterations;
    if (!changes && !budget.seconds)
      changes = options_.improving.iterations_per_group * costed.num_groups * static_cast<std::int64_t>(starts.size());
    Remainder remainder(changes, budget.seconds.has_value(), whole);
    LocalSearch local_search(costed);
    std::uint64_t runs = 0;
    RatedAssignment best = starts.front();
    LocalSearchOptions improving = options_.improving;
    const auto search = [&](const Assignment& start, double share) {
      remainder.Limit(share, improving);
      Random own = random.Fork(++runs);
      RatedAssignment improved = local_search.Improve(start, improving, own);
      remainder.Spend(local_search.changes_tried());
      if (improved.makespan < best.makespan) best = improved;
      offer(std::move(improved.assignment));
    };

    const double all_starts = options_.most_rounds > 0 ? options_.start_share : 1.0;
    const double each = all_starts / static_cast<double>(starts.size());
    for (std::size_t i = 0; i < starts.size() && !remainder.gone(); ++i)
      search(starts[i].assignment, each / (1 - each * static_cast<double>(i)));
    if (options_.most_rounds == 0) return;
    const double heat = std::clamp(CommunicationRatio(costed), 1.0, options_.most_heat);
    const double cool_rounds = remainder.Changes() / (static_cast<double>(options_.round_changes) * costed.num_groups);
    const int rounds = static_cast<int>(std::clamp(cool_rounds / heat, 1.0, static_cast<double>(options_.most_rounds)));
    improving.first_annealing_temperature =
        options_.round_annealing_temperature * std::clamp(cool_rounds / rounds, 1.0, heat);
    for (int round = 0; round < rounds && !remainder.gone(); ++round) {
      if (round == rounds - 1)
        improving.last_annealing_temperature =
            std::min(improving.last_annealing_temperature, options_.last_annealing_temperature);
      search(Assignment(best.assignment), 1.0 / (rounds - round));
    }
  }

 private:
  std::shared_ptr<const Planner> planner_;
  LocalSearchPlannerOptions options_;
};

}  // namespace

std::unique_ptr<Planner> MakeLocalSearchPlanner(PlannerTraits traits, std::shared_ptr<const Planner> planner,
                                                const LocalSearchPlannerOptions& options) {
  return std::make_unique<LocalSearchPlanner>(std::move(traits), std::move(planner), options);
}

}  // namespace millrace
