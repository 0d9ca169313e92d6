// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/anneal.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "millrace/heuristics/heuristics.h"
#include "millrace/heuristics/start.h"
#include "millrace/planning/deadline.h"
#include "millrace/search/local_search.h"

namespace millrace {
namespace {

// Of a chain's time; looking for a start takes a quarter of it.
constexpr double kStartShare = 0.4;

class Annealing final : public Planner {
 public:
  Annealing(PlannerTraits traits, const AnnealOptions& options) : Planner(std::move(traits)), options_(options) {}

  void Propose(const PlanningProblem& problem, const Budget& budget, Random& random,
               const Offer& offer) const override {
    const CostedGraph& costed = problem.costed();
    if (costed.num_groups == 0) {
      offer(Assignment{});
      return;
    }
    const int chains = options_.starts.empty() ? options_.chains : static_cast<int>(options_.starts.size());
    LocalSearchOptions improving;
    improving.first_annealing_temperature = options_.first_annealing_temperature;
    improving.last_annealing_temperature = options_.last_annealing_temperature;
    improving.moves = options_.moves;
    improving.stop = options_.stop;
    improving.iterations = budget.iterations;
    improving.seconds = budget.seconds;
    if (!improving.iterations && !improving.seconds) improving.iterations = options_.visits / costed.Visits();
    if (improving.iterations) *improving.iterations /= chains;
    if (improving.seconds) *improving.seconds /= chains;
    LocalSearch local_search(costed);
    for (int chain = 0; chain < chains; ++chain) {
      Random stream = random.Fork(static_cast<std::uint64_t>(chain));
      const Deadline starting(improving.seconds);
      Assignment start = Start(problem, improving.seconds, chain, stream);
      LocalSearchOptions rest = improving;
      if (rest.seconds) rest.seconds = starting.Left();
      offer(InRounds(local_search, costed, std::move(start), rest, stream));
    }
  }

 private:
  // A round that the iterations cut short goes as far as it would have gone by then, so that more of them add to what
  // fewer find. The first one, which is there for very few, is made to fit instead.
  Assignment InRounds(LocalSearch& local_search, const CostedGraph& costed, Assignment start,
                      const LocalSearchOptions& whole, Random& random) const {
    if (!options_.rounds) return local_search.Improve(std::move(start), whole, random).assignment;
    const Deadline deadline(whole.seconds);
    std::int64_t left = whole.iterations.value_or(std::numeric_limits<std::int64_t>::max());
    double length = static_cast<double>(options_.opening_round) * costed.num_groups;
    double hot = std::min(options_.opening_annealing_temperature, whole.first_annealing_temperature);
    LocalSearchOptions round = whole;
    double best = std::numeric_limits<double>::infinity();
    bool is_hot = false;
    for (bool opening = true; left > 0 && !deadline.Passed() && !whole.stop.stop_requested(); opening = false) {
      const auto full = static_cast<std::int64_t>(std::min(length, 1e15));
      round.iterations = std::min(left, full);
      const double done = opening ? 1 : static_cast<double>(*round.iterations) / static_cast<double>(full);
      const double cold = std::min(whole.last_annealing_temperature, hot);
      round.first_annealing_temperature = hot;
      round.last_annealing_temperature = hot > 0 ? hot * std::pow(cold / hot, done) : 0;
      if (whole.seconds) round.seconds = deadline.Left();
      RatedAssignment found = local_search.Improve(std::move(start), round, random);
      start = std::move(found.assignment);
      left -= *round.iterations;
      length = opening ? static_cast<double>(options_.first_round) * costed.num_groups : options_.growth * length;
      if (!opening && found.makespan >= best) is_hot = !is_hot;
      best = std::min(best, found.makespan);
      hot = is_hot ? options_.hot_annealing_temperature : whole.first_annealing_temperature;
    }
    return start;
  }

  Assignment Start(const PlanningProblem& problem, std::optional<double> seconds, int chain, Random& random) const {
    if (!options_.starts.empty()) return options_.starts[static_cast<std::size_t>(chain)];
    Assignment start;
    Budget budget;
    if (seconds) budget.seconds = kStartShare * *seconds;
    // The first sample of the randomised list is the plain one.
    budget.samples = 2;
    (chain == 0 ? MakeStart(options_.stop) : MakeHeuristic("randomised-list"))
        ->Propose(problem, budget, random, [&start](ProposedPlan offered) { start = std::move(offered.assignment); });
    return start;
  }

  AnnealOptions options_;
};

}  // namespace

PlannerTraits AnnealingTraits() {
  return {.name = "anneal",
          .meaning = "simulated annealing from the best heuristic plan",
          .takes_iterations = true,
          .pool_share = 2,
          .options = {{.name = "chains",
                       .meaning = "how many, one after the other",
                       .least = 1,
                       .most = 1000,
                       .usual = "1",
                       .whole = true}}};
}

std::unique_ptr<Planner> MakeAnnealing(const AnnealOptions& options) {
  return std::make_unique<Annealing>(AnnealingTraits(), options);
}

PlannerTraits PlainAnnealingTraits() {
  return {.name = "anneal-plain",
          .meaning = "simulated annealing in one cooling by small moves, for comparison",
          .takes_iterations = true,
          .in_pool = false};
}

std::unique_ptr<Planner> MakePlainAnnealing() {
  AnnealOptions options;
  options.first_annealing_temperature = 1;
  options.last_annealing_temperature = 0.1;
  options.rounds = false;
  options.moves.cluster = options.moves.swap = options.moves.twins = 0;
  return std::make_unique<Annealing>(PlainAnnealingTraits(), options);
}

}  // namespace millrace
