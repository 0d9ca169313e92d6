// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/polished_source.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "millrace/heuristics/best_of.h"
#include "millrace/optimize/different.h"

namespace millrace {
namespace {

class PolishedSource final : public CandidateSource {
 public:
  PolishedSource(std::shared_ptr<const CandidateSource> source, const PolishedSourceOptions& options)
      : source_(std::move(source)), options_(options) {}

  std::string name() const override { return options_.name; }

  void Propose(const CostedGraph& costed, const SourceBudget& budget, Random& random,
               const std::function<void(Assignment)>& offer) const override {
    const auto begin = std::chrono::steady_clock::now();
    SourceBudget drawing;
    drawing.samples = budget.samples > 1 ? std::min(budget.samples, options_.samples) : options_.samples;
    if (budget.seconds) drawing.seconds = options_.sample_share * *budget.seconds;
    Random stream = random.Fork(0);
    std::vector<RatedAssignment> drawn =
        RunSource(*source_, costed, drawing, stream, static_cast<std::size_t>(drawing.samples)).kept;
    for (const RatedAssignment& plan : drawn) offer(plan.assignment);

    const std::vector<RatedAssignment> starts =
        SelectDifferent(costed, std::move(drawn), static_cast<std::size_t>(options_.starts), options_.least_distance);
    Polisher polisher(costed);
    for (std::size_t i = 0; i < starts.size(); ++i) {
      PolishOptions polish = options_.polish;
      const auto left = static_cast<double>(starts.size() - i);
      if (budget.iterations) polish.iterations = *budget.iterations / static_cast<std::int64_t>(starts.size());
      if (budget.seconds) {
        const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        if (spent >= *budget.seconds) break;
        polish.seconds = (*budget.seconds - spent) / left;
      }
      Random own = random.Fork(i + 1);
      offer(polisher.Polish(starts[i].assignment, polish, own).assignment);
    }
  }

 private:
  std::shared_ptr<const CandidateSource> source_;
  PolishedSourceOptions options_;
};

}  // namespace

std::unique_ptr<CandidateSource> MakePolishedSource(std::shared_ptr<const CandidateSource> source,
                                                    const PolishedSourceOptions& options) {
  return std::make_unique<PolishedSource>(std::move(source), options);
}

}  // namespace millrace
