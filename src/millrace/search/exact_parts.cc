// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/exact_parts.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "millrace/graph/index.h"
#include "millrace/planning/parallel.h"
#include "millrace/search/exact_engine.h"
#include "millrace/simulate/reversed.h"
#include "millrace/simulate/time_step.h"

namespace millrace {
namespace {

constexpr std::size_t kMemoBytes = std::size_t{16} << 20;
constexpr int kPartsAtOnce = 8;
constexpr double kEndless = std::numeric_limits<double>::infinity();

struct Pair {
  int from = -1;
  int to = -1;
};

double Least(const CostedGraph& costed, const std::vector<double>& time, int group) {
  double least = kEndless;
  for (int device = 0; device < costed.num_devices; ++device) {
    const std::size_t at = Index(group) * Index(costed.num_devices) + Index(device);
    if (costed.seconds[at] != kEndless) least = std::min(least, time[at] + costed.seconds[at]);
  }
  return least;
}

// The pair neither tied nor apart whose path with its transfer is the longest.
Pair PairToSplitBy(const Narrowed& problem) {
  const CostedGraph& costed = problem.costed;
  double transfer_of_a_byte = 0;
  for (const double seconds : costed.topology.seconds_per_byte)
    transfer_of_a_byte = std::max(transfer_of_a_byte, seconds);
  double latency = 0;
  for (const double seconds : costed.topology.latency) latency = std::max(latency, seconds);
  Pair chosen;
  double longest = -1;
  for (int from = 0; from < costed.num_groups; ++from) {
    for (const GroupEdge& edge : costed.Successors(from)) {
      const std::int32_t own = costed.colocation[Index(from)];
      if (own >= 0 && own == costed.colocation[Index(edge.group)]) continue;
      if (!problem.apart.empty() && problem.apart[Index(from) * Index(costed.num_groups) + Index(edge.group)] != 0)
        continue;
      const double length = Least(costed, problem.paths.head, from) + latency + edge.bytes * transfer_of_a_byte +
                            Least(costed, problem.paths.tail, edge.group);
      if (length > longest) {
        longest = length;
        chosen = {from, edge.group};
      }
    }
  }
  return chosen;
}

}  // namespace

ExactParts::ExactParts(Narrowed whole, double limit, double step, std::int64_t nodes_of_a_part)
    : limit_(limit), step_(step) {
  if (whole.possible) parts_.push_back({std::move(whole), nodes_of_a_part});
}

void ExactParts::LowerLimit(double limit) { limit_ = std::min(limit_, limit); }

double ExactParts::OpenBound() const {
  double bound = limit_;
  for (const Part& part : parts_) bound = std::min(bound, part.problem.paths.longest);
  return bound;
}

double ExactParts::LimitBelow(const Outcome& outcome) const {
  return outcome.best ? std::min(limit_, BelowMakespan(outcome.best->makespan, step_)) : limit_;
}

ExactParts::Outcome ExactParts::Work(const Part& part, const std::function<bool()>& stop) const {
  Outcome outcome;
  const auto search = [&](const CostedGraph& costed, const std::vector<double>& tail, bool backwards) {
    ExactEngine engine(costed, tail, part.problem.apart, LimitBelow(outcome), step_, kMemoBytes);
    engine.Run(part.nodes, stop);
    outcome.nodes += engine.nodes();
    outcome.done = engine.done();
    if (!engine.best()) return;
    outcome.best = engine.best();
    if (backwards) std::reverse(outcome.best->assignment.sequence.begin(), outcome.best->assignment.sequence.end());
  };
  search(part.problem.costed, part.problem.paths.tail, false);
  if (!outcome.done && !part.problem.costed.limited_memory) {
    const CostedGraph reversed = Reversed(part.problem.costed);
    search(reversed, part.problem.paths.head, true);
  }
  if (outcome.done || stop()) return outcome;
  const double limit = LimitBelow(outcome);
  const Pair pair = PairToSplitBy(part.problem);
  if (pair.from < 0) {
    outcome.halves.push_back({part.problem, part.nodes * 4});
    return outcome;
  }
  for (Narrowed& half : std::vector<Narrowed>{NarrowApart(part.problem, limit, pair.from, pair.to),
                                              NarrowTied(part.problem, limit, pair.from, pair.to)}) {
    if (half.possible) outcome.halves.push_back({std::move(half), part.nodes});
  }
  return outcome;
}

void ExactParts::Round(int threads, const std::function<bool()>& stop) {
  const int count = static_cast<int>(std::min<std::size_t>(kPartsAtOnce, parts_.size()));
  std::vector<Outcome> outcomes(Index(count));
  const std::size_t first = parts_.size() - Index(count);
  RunInParallel(count, threads, [&](int i) { outcomes[Index(i)] = Work(parts_[first + Index(i)], stop); });
  std::vector<Part> left;
  for (int i = 0; i < count; ++i) {
    Outcome& outcome = outcomes[Index(i)];
    nodes_ += outcome.nodes;
    if (outcome.best && outcome.best->makespan < limit_ && (!best_ || outcome.best->makespan < best_->makespan))
      best_ = outcome.best;
    if (outcome.done) continue;
    if (outcome.halves.empty() && stop()) outcome.halves.push_back(parts_[first + Index(i)]);
    for (Part& half : outcome.halves) left.push_back(std::move(half));
  }
  parts_.resize(first);
  for (Part& part : left) parts_.push_back(std::move(part));
}

}  // namespace millrace
