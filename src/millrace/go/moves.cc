// SPDX-License-Identifier: Apache-2.0
#include "millrace/go/moves.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "millrace/errors/interrupt.h"
#include "millrace/go/move_features.h"
#include "millrace/go/network.h"
#include "millrace/go/sampler.h"
#include "millrace/graph/index.h"

namespace millrace {
namespace {

// How many would rather not stay.
std::size_t SureMoves(std::span<const GoMove> moves) {
  return static_cast<std::size_t>(
      std::find_if(moves.begin(), moves.end(), [](const GoMove& move) { return move.sureness <= 0; }) - moves.begin());
}

class Improver {
 public:
  Improver(const GoDecoder& decoder, const PreparedGoPolicy& policy, const Decisions& start,
           const GoMoveOptions& options, Random& random,
           const std::function<void(const Decisions&, DecodedPlan)>& offer)
      : problem_(decoder.problem()),
        started_(decoder.Decode(start)),
        grouped_(problem_, *started_.costed),
        pass_(policy.MakePass(LoopOf(options.threads))),
        options_(options),
        random_(random),
        offer_(offer),
        best_(start) {
    levels_ = MakeGoBlocks(problem_, *started_.costed, options.fewest_blocks);
  }

  void Run() {
    Take(best_, grouped_.Decode(best_));
    Decisions by_urgency = best_;
    by_urgency.priority.assign(Index(problem_.num_rows()), 0);
    Take(by_urgency, grouped_.Decode(by_urgency));
    const auto freely = static_cast<int>(options_.freely * options_.iterations);
    Decisions now = best_;
    int t = 0;
    for (; t < freely && !options_.stop(); ++t) {
      StopIfInterrupted();
      const GoBlocks& blocks = levels_[Index(t) % levels_.size()];
      MakeShare(problem_, blocks, Look(blocks, now), options_.first_share * (1 - static_cast<double>(t) / freely), now);
      Take(now, grouped_.Decode(now));
    }
    std::size_t in_vain = 0;
    for (; t < options_.iterations && !options_.stop(); ++t) {
      StopIfInterrupted();
      in_vain = Improve(levels_[Index(t) % levels_.size()]) ? 0 : in_vain + 1;
      if (in_vain == levels_.size() && options_.softmax_temperature == 0) return;
    }
  }

 private:
  std::vector<GoMove> Look(const GoBlocks& blocks, const Decisions& at) {
    Decisions placed;
    placed.device = at.device;
    ObserveMoves(problem_, placed, blocks, observation_);
    pass_.Begin(observation_);
    const std::vector<double> logits = BlockLogits(problem_, blocks, pass_.Score(Task::kPlacement, {}));
    return MovesOf(problem_, blocks, logits, at.device, options_.softmax_temperature, random_);
  }

  // One look and its moves. Is the plan faster?
  bool Improve(const GoBlocks& blocks) {
    const std::vector<GoMove> moves = Look(blocks, best_);
    const double before = seconds_;
    std::int64_t judged = 0;
    MakeMoves(
        problem_, blocks, moves, options_.tries, {best_, seconds_},
        [this](const Decisions& decisions) {
          DecodedPlan plan = grouped_.Decode(decisions);
          const double seconds = SecondsOf(plan);
          Take(decisions, std::move(plan));
          return seconds;
        },
        judged);
    return seconds_ < before;
  }

  static double SecondsOf(const DecodedPlan& plan) {
    return plan.fits ? plan.makespan : std::numeric_limits<double>::infinity();
  }

  // Offers it if it is the fastest so far.
  void Take(const Decisions& decisions, DecodedPlan plan) {
    const double seconds = SecondsOf(plan);
    if (offered_ && !(seconds < seconds_)) return;
    offered_ = true;
    seconds_ = seconds;
    best_ = decisions;
    plan.costed = started_.costed;
    offer_(best_, std::move(plan));
  }

  const GoProblem& problem_;
  DecodedPlan started_;
  GoDecoder grouped_;  // keeps the groups of the start
  GoPass pass_;
  const GoMoveOptions& options_;
  Random& random_;
  const std::function<void(const Decisions&, DecodedPlan)>& offer_;
  std::vector<GoBlocks> levels_;
  Decisions best_;
  double seconds_ = 0;
  bool offered_ = false;
  DecisionObservation observation_;
};

}  // namespace

std::vector<double> BlockLogits(const GoProblem& problem, const GoBlocks& blocks, std::span<const float> logits) {
  const auto devices = Index(problem.num_devices());
  std::vector<double> of_blocks(Index(blocks.count()) * devices, 0.0);
  for (std::int32_t block = 0; block < blocks.count(); ++block) {
    double rows = 0;
    for (const std::int32_t colocation : blocks.ColocationsOf(block)) {
      const auto weight = static_cast<double>(problem.RowsOf(colocation).size());
      rows += weight;
      for (std::size_t d = 0; d < devices; ++d)
        of_blocks[Index(block) * devices + d] += weight * logits[Index(colocation) * devices + d];
    }
    for (std::size_t d = 0; d < devices; ++d) of_blocks[Index(block) * devices + d] /= rows;
  }
  return of_blocks;
}

std::vector<GoMove> MovesOf(const GoProblem& problem, const GoBlocks& blocks, std::span<const double> logits,
                            std::span<const std::int32_t> device_of, double softmax_temperature, Random& random) {
  constexpr double kLeastUniform = 1e-300;
  const int devices = problem.num_devices();
  const std::vector<int> now = DevicesOfBlocks(problem, blocks, device_of);
  std::vector<GoMove> moves;
  std::vector<double> scores(Index(devices));
  for (std::int32_t block = 0; block < blocks.count(); ++block) {
    for (int d = 0; d < devices; ++d) {
      scores[Index(d)] = logits[Index(block) * Index(devices) + Index(d)];
      // The largest of logits with Gumbel's noise is a draw from their softmax.
      if (softmax_temperature > 0)
        scores[Index(d)] -= softmax_temperature * std::log(-std::log(std::max(kLeastUniform, random.Uniform())));
    }
    const int here = now[Index(block)];
    const double stay = scores[Index(here)];
    scores[Index(here)] = -std::numeric_limits<double>::infinity();
    const auto most = static_cast<int>(std::max_element(scores.begin(), scores.end()) - scores.begin());
    const double sureness = scores[Index(most)] - stay;
    if (most != here && sureness > kClosedLogit / 2) moves.push_back({block, most, sureness});
  }
  std::stable_sort(moves.begin(), moves.end(),
                   [](const GoMove& a, const GoMove& b) { return a.sureness > b.sureness; });
  return moves;
}

void MakeShare(const GoProblem& problem, const GoBlocks& blocks, std::span<const GoMove> moves, double share,
               Decisions& decisions) {
  const std::size_t sure = SureMoves(moves);
  const auto made = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sure)));
  for (const GoMove& move : moves.first(std::min(made, sure)))
    PlaceBlock(problem, blocks, move.block, move.device, decisions.device);
}

JudgedDecisions MakeMoves(const GoProblem& problem, const GoBlocks& blocks, std::span<const GoMove> moves, int tries,
                          JudgedDecisions from, const std::function<double(const Decisions&)>& judge,
                          std::int64_t& judged) {
  const std::size_t sure = SureMoves(moves);
  const auto try_it = [&](const Decisions& decisions) {
    const double seconds = judge(decisions);
    ++judged;
    if (seconds < from.seconds) from = {decisions, seconds};
  };
  Decisions to = from.decisions;
  std::size_t next = 1;
  for (std::size_t made = 0; made < sure;) {
    PlaceBlock(problem, blocks, moves[made].block, moves[made].device, to.device);
    if (++made < next && made < sure) continue;
    next = 2 * made;
    try_it(to);
  }
  for (const GoMove& move : moves.first(std::min(moves.size(), Index(tries)))) {
    to = from.decisions;
    PlaceBlock(problem, blocks, move.block, move.device, to.device);
    if (to.device != from.decisions.device) try_it(to);
  }
  return from;
}

void ImproveByMoves(const GoDecoder& decoder, const PreparedGoPolicy& policy, const Decisions& start,
                    const GoMoveOptions& options, Random& random,
                    const std::function<void(const Decisions&, DecodedPlan)>& offer) {
  Improver(decoder, policy, start, options, random, offer).Run();
}

}  // namespace millrace
