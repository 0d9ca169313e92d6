// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/anneal.h"

#include <chrono>
#include <optional>
#include <utility>

#include "millrace/search/polish.h"

namespace millrace {
namespace {

class Annealing final : public CandidateSource {
 public:
  explicit Annealing(const AnnealOptions& options) : options_(options) {}

  std::string name() const override { return "anneal"; }

  void Propose(const CostedGraph& costed, const SourceBudget& budget, Random& random,
               const std::function<void(Assignment)>& offer) const override {
    if (costed.num_groups == 0) {
      offer({});
      return;
    }
    const int chains = options_.starts.empty() ? options_.chains : static_cast<int>(options_.starts.size());
    PolishOptions polish;
    polish.first_temperature = options_.first_temperature;
    polish.last_temperature = options_.last_temperature;
    polish.moves = options_.moves;
    polish.iterations = budget.iterations;
    polish.seconds = budget.seconds;
    if (!polish.iterations && !polish.seconds)
      polish.iterations = options_.visits / (costed.num_groups + static_cast<std::int64_t>(costed.predecessors.size()));
    if (polish.iterations) *polish.iterations /= chains;
    if (polish.seconds) *polish.seconds /= chains;
    Polisher polisher(costed);
    for (int chain = 0; chain < chains; ++chain) {
      Random stream = random.Fork(static_cast<std::uint64_t>(chain));
      const auto begin = std::chrono::steady_clock::now();
      Assignment start = Start(costed, chain, stream);
      PolishOptions rest = polish;
      if (rest.seconds)
        *rest.seconds -= std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      offer(polisher.Polish(std::move(start), rest, stream).assignment);
    }
  }

 private:
  Assignment Start(const CostedGraph& costed, int chain, Random& random) const {
    if (!options_.starts.empty()) return options_.starts[static_cast<std::size_t>(chain)];
    // The first sample of the randomised list is the plain one.
    Assignment start;
    SourceBudget budget;
    budget.samples = chain == 0 ? 1 : 2;
    MakeHeuristic(chain == 0 ? "heft" : "randomised-list")
        ->Propose(costed, budget, random, [&start](Assignment offered) { start = std::move(offered); });
    return start;
  }

  AnnealOptions options_;
};

}  // namespace

std::unique_ptr<CandidateSource> MakeAnnealing(const AnnealOptions& options) {
  return std::make_unique<Annealing>(options);
}

}  // namespace millrace
