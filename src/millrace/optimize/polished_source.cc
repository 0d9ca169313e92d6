// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/polished_source.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "millrace/heuristics/best_of.h"
#include "millrace/optimize/different.h"

namespace millrace {
namespace {

using Clock = std::chrono::steady_clock;

// What is left of a search's budget, of which at least one kind is limited.
class Remainder {
 public:
  Remainder(const std::optional<std::int64_t>& changes, const std::optional<double>& seconds, Clock::time_point begin)
      : changes_(changes), seconds_(seconds), begin_(begin), search_begin_(Clock::now()) {}

  bool gone() const { return (changes_ && *changes_ <= 0) || (seconds_ && Seconds() <= 0); }

  void Limit(double share, PolishOptions& polish) const {
    if (changes_) polish.iterations = std::llround(share * static_cast<double>(*changes_));
    if (seconds_) polish.seconds = share * Seconds();
  }

  void Spend(std::int64_t changes) {
    tried_ += changes;
    if (changes_) *changes_ -= changes;
  }

  // How many changes can still be tried, going by those so far.
  double Changes() const {
    double most = changes_ ? static_cast<double>(*changes_) : std::numeric_limits<double>::max();
    if (seconds_) {
      const double spent = std::chrono::duration<double>(Clock::now() - search_begin_).count();
      most = std::min(most, static_cast<double>(tried_) / std::max(spent, 1e-9) * Seconds());
    }
    return most;
  }

 private:
  double Seconds() const { return *seconds_ - std::chrono::duration<double>(Clock::now() - begin_).count(); }

  std::optional<std::int64_t> changes_;
  std::optional<double> seconds_;
  Clock::time_point begin_, search_begin_;
  std::int64_t tried_ = 0;
};

class PolishedSource final : public CandidateSource {
 public:
  PolishedSource(std::shared_ptr<const CandidateSource> source, const PolishedSourceOptions& options)
      : source_(std::move(source)), options_(options) {}

  std::string name() const override { return options_.name; }

  void Propose(const CostedGraph& costed, const SourceBudget& budget, Random& random,
               const std::function<void(Assignment)>& offer) const override {
    const auto begin = Clock::now();
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
    Remainder remainder(changes, budget.seconds, begin);
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
