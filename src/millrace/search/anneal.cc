// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/anneal.h"

#include <optional>
#include <utility>

#include "millrace/heuristics/heuristics.h"
#include "millrace/planning/deadline.h"
#include "millrace/search/local_search.h"

namespace millrace {
namespace {

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
    improving.iterations = budget.iterations;
    improving.seconds = budget.seconds;
    if (!improving.iterations && !improving.seconds) improving.iterations = options_.visits / costed.Visits();
    if (improving.iterations) *improving.iterations /= chains;
    if (improving.seconds) *improving.seconds /= chains;
    LocalSearch local_search(costed);
    for (int chain = 0; chain < chains; ++chain) {
      Random stream = random.Fork(static_cast<std::uint64_t>(chain));
      const Deadline starting(improving.seconds);
      Assignment start = Start(costed, chain, stream);
      LocalSearchOptions rest = improving;
      if (rest.seconds) rest.seconds = starting.Left();
      offer(local_search.Improve(std::move(start), rest, stream).assignment);
    }
  }

 private:
  Assignment Start(const CostedGraph& costed, int chain, Random& random) const {
    if (!options_.starts.empty()) return options_.starts[static_cast<std::size_t>(chain)];
    // The first sample of the randomised list is the plain one.
    Assignment start;
    Budget budget;
    budget.samples = chain == 0 ? 1 : 2;
    MakeHeuristic(chain == 0 ? "heft" : "randomised-list")
        ->Propose(costed, budget, random, [&start](ProposedPlan offered) { start = std::move(offered.assignment); });
    return start;
  }

  AnnealOptions options_;
};

}  // namespace

PlannerTraits AnnealingTraits() {
  return {.name = "anneal",
          .meaning = "simulated annealing from HEFT",
          .takes_iterations = true,
          .pool_share = 2,
          .options = {
              {.name = "chains", .meaning = "how many, one after the other", .least = 1, .most = 1000, .usual = "1"}}};
}

std::unique_ptr<Planner> MakeAnnealing(const AnnealOptions& options) {
  return std::make_unique<Annealing>(AnnealingTraits(), options);
}

}  // namespace millrace
