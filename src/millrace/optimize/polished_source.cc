// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/polished_source.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "millrace/heuristics/best_of.h"
#include "millrace/optimize/deadline.h"
#include "millrace/optimize/different.h"

namespace millrace {
namespace {

// What is left of a search's budget, of which at least one kind is limited.
class Remainder {
 public:
  Remainder(const std::optional<std::int64_t>& changes, bool timed, const Deadline& whole)
      : changes_(changes), timed_(timed), search_(whole.Left()) {}

  bool gone() const { return (changes_ && *changes_ <= 0) || (timed_ && search_.Passed()); }

  void Limit(double share, PolishOptions& polish) const {
    if (changes_) polish.iterations = std::llround(share * static_cast<double>(*changes_));
    if (timed_) polish.seconds = share * search_.Left();
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

class PolishedSource final : public CandidateSource {
 public:
  PolishedSource(std::shared_ptr<const CandidateSource> source, const PolishedSourceOptions& options)
      : source_(std::move(source)), options_(options) {}

  std::string name() const override { return options_.name; }

  void Propose(const CostedGraph& costed, const SourceBudget& budget, Random& random,
               const std::function<void(Assignment)>& offer) const override {
    const Deadline whole(budget.seconds);
    SourceBudget drawing;
    drawing.samples = budget.samples > 1 ? std::min(budget.samples, options_.samples) : options_.samples;
    if (budget.seconds) drawing.seconds = options_.sample_share * *budget.seconds;
    Random stream = random.Fork(0);
    std::vector<RatedAssignment> drawn =
        RunSource(*source_, costed, drawing, stream, static_cast<std::size_t>(drawing.samples)).kept;
    for (const RatedAssignment& plan : drawn) offer(plan.assignment);

    const std::vector<RatedAssignment> starts =
        SelectDifferent(costed, std::move(drawn), static_cast<std::size_t>(options_.starts), options_.least_distance);
    if (starts.empty()) return;
    std::optional<std::int64_t> changes = budget.iterations;
    if (!changes && !budget.seconds)
      changes = options_.polish.iterations_per_group * costed.num_groups * static_cast<std::int64_t>(starts.size());
    Remainder remainder(changes, budget.seconds.has_value(), whole);
    Polisher polisher(costed);
    std::uint64_t runs = 0;
    RatedAssignment best = starts.front();
    const auto search = [&](const Assignment& start, double first_temperature, double share) {
      PolishOptions polish = options_.polish;
      polish.first_temperature = first_temperature;
      remainder.Limit(share, polish);
      Random own = random.Fork(++runs);
      RatedAssignment polished = polisher.Polish(start, polish, own);
      remainder.Spend(polisher.changes_tried());
      if (polished.makespan < best.makespan) best = polished;
      offer(std::move(polished.assignment));
    };

    const double all_starts = options_.most_rounds > 0 ? options_.start_share : 1.0;
    const double each = all_starts / static_cast<double>(starts.size());
    for (std::size_t i = 0; i < starts.size() && !remainder.gone(); ++i)
      search(starts[i].assignment, options_.polish.first_temperature, each / (1 - each * static_cast<double>(i)));
    if (options_.most_rounds == 0) return;
    const double worth = static_cast<double>(options_.round_changes) * static_cast<double>(costed.num_groups);
    const int rounds =
        static_cast<int>(std::clamp(remainder.Changes() / worth, 1.0, static_cast<double>(options_.most_rounds)));
    for (int round = 0; round < rounds && !remainder.gone(); ++round)
      search(Assignment(best.assignment), options_.round_temperature, 1.0 / (rounds - round));
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
