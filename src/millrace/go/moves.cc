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
    JudgedDecisions now = {best_, seconds_};
    for (int look = 0; look < options_.looks && !options_.stop(); ++look) {
      const std::size_t level = Index(look) % levels_.size();
      const std::vector<GoMove> moves = Look(levels_[level], now.decisions);
      const double share = TemperatureShare(options_, static_cast<double>(look) / options_.looks);
      now = TryMoves(
          problem_, levels_, level, moves,
          {.tries = options_.tries, .proposed = options_.proposed, .temperature = share * seconds_}, std::move(now),
          [this](const Decisions& decisions) {
            DecodedPlan plan = grouped_.Decode(decisions);
            const double seconds = SecondsOf(plan);
            Take(decisions, std::move(plan));
            return seconds;
          },
          options_.stop, random_);
    }
  }

 private:
  std::vector<GoMove> Look(const GoBlocks& blocks, const Decisions& at) {
    const DecodedPlan plan = grouped_.Decode(at);
    Decisions placed;
    placed.device = at.device;
    ObserveMoves(problem_, placed, *started_.costed, plan.assignment, blocks, observation_);
    pass_.Begin(observation_);
    const std::vector<double> logits = BlockLogits(problem_, blocks, pass_.Score(Task::kPlacement, {}));
    return MovesOf(problem_, blocks, logits, at.device, options_.softmax_temperature, random_);
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

double TemperatureShare(const GoMoveOptions& options, double done) {
  return options.first_temperature * std::pow(options.last_temperature / options.first_temperature, done);
}

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

JudgedDecisions TryMoves(const GoProblem& problem, std::span<const GoBlocks> levels, std::size_t level,
                         std::span<const GoMove> moves, const MoveTrials& trials, JudgedDecisions from,
                         const std::function<double(const Decisions&)>& judge, const std::function<bool()>& stop,
                         Random& random) {
  const auto devices = static_cast<std::uint64_t>(problem.num_devices());
  std::size_t next = 0;
  Decisions to;
  for (int i = 0; i < trials.tries && !stop(); ++i) {
    StopIfInterrupted();
    to = from.decisions;
    if (next < moves.size() && random.Uniform() < trials.proposed) {
      PlaceBlock(problem, levels[level], moves[next].block, moves[next].device, to.device);
      ++next;
    } else {
      const GoBlocks& blocks = levels[random.Below(levels.size())];
      const auto block = static_cast<std::int32_t>(random.Below(static_cast<std::uint64_t>(blocks.count())));
      PlaceBlock(problem, blocks, block, static_cast<int>(random.Below(devices)), to.device);
    }
    if (to.device == from.decisions.device) continue;
    const double seconds = judge(to);
    if (!(seconds <= from.seconds) &&
        !(trials.temperature > 0 && random.Uniform() < std::exp((from.seconds - seconds) / trials.temperature)))
      continue;
    std::swap(from.decisions, to);
    from.seconds = seconds;
  }
  return from;
}

void ImproveByMoves(const GoDecoder& decoder, const PreparedGoPolicy& policy, const Decisions& start,
                    const GoMoveOptions& options, Random& random,
                    const std::function<void(const Decisions&, DecodedPlan)>& offer) {
  Improver(decoder, policy, start, options, random, offer).Run();
}

}  // namespace millrace
