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
#include "millrace/heuristics/upward_rank.h"
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

// Mean seconds of a transfer between devices over those of a group; 0 without edges.
double TransferRatio(const CostedGraph& costed) {
  if (costed.successors.empty()) return 0;
  const MeanTransfer transfer = MeanTransferOf(costed.topology);
  double transfers = 0;
  for (const GroupEdge& edge : costed.successors) transfers += transfer.Seconds(edge.bytes);
  double groups = 0;
  for (const double seconds : MeanSeconds(costed)) groups += seconds;
  const double ratio = transfers / static_cast<double>(costed.successors.size()) * costed.num_groups / groups;
  return ratio > 0 ? ratio : 0;
}

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
    PolishOptions polish = options_.polish;
    const auto search = [&](const Assignment& start, double share) {
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
      search(starts[i].assignment, each / (1 - each * static_cast<double>(i)));
    if (options_.most_rounds == 0) return;
    const double heat = std::clamp(TransferRatio(costed), 1.0, options_.most_heat);
    const double cool_rounds = remainder.Changes() / (static_cast<double>(options_.round_changes) * costed.num_groups);
    const int rounds = static_cast<int>(std::clamp(cool_rounds / heat, 1.0, static_cast<double>(options_.most_rounds)));
    polish.first_temperature = options_.round_temperature * std::clamp(cool_rounds / rounds, 1.0, heat);
    for (int round = 0; round < rounds && !remainder.gone(); ++round) {
      if (round == rounds - 1) polish.last_temperature = std::min(polish.last_temperature, options_.last_temperature);
      search(Assignment(best.assignment), 1.0 / (rounds - round));
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
