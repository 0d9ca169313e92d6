// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/go/credit.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/interrupt.h"
#include "millrace/fusion/greedy_fusion.h"
#include "millrace/graph/index.h"
#include "millrace/heuristics/placements.h"
#include "millrace/planning/parallel.h"

namespace millrace {

MoveProblem::MoveProblem(GoCase of, std::span<const int> fewest_blocks)
    : of_(std::move(of)),
      graph_(std::make_unique<const ComputationGraph>(MakeGoWorkload(of_.workload))),
      model_(MakeAnalyticCostModel(*graph_, of_.machine, Proxy::kContended)),
      problem_(std::make_unique<const GoProblem>(*model_)),
      costed_(std::make_unique<const CostedGraph>(MakeCostedGraph(*model_, GreedyFusion(*graph_)))),
      decoder_(std::make_unique<const GoDecoder>(*problem_, *costed_)),
      features_(MakeGoFeatures(*problem_)),
      levels_(MakeGoBlocks(*problem_, *costed_, fewest_blocks)) {
  start_.device = DevicesByColocation(*problem_, *costed_, PlaceByLayers(*costed_));
  start_seconds_ = Seconds(start_);
  Decisions by_urgency = start_;
  by_urgency.priority.assign(Index(problem_->num_rows()), 0);
  const double seconds = Seconds(by_urgency);
  if (!(seconds < start_seconds_)) return;
  start_ = std::move(by_urgency);
  start_seconds_ = seconds;
}

double MoveProblem::Seconds(const Decisions& decisions) const {
  const DecodedPlan plan = decoder_->Decode(decisions);
  return plan.fits ? plan.makespan : kCannotRun;
}

Credit FindCredit(const MoveProblem& problem, const GoBlocks& blocks, const Decisions& decisions, double now, int most,
                  int threads, Random& random) {
  Credit credit;
  credit.blocks.resize(Index(blocks.count()));
  std::iota(credit.blocks.begin(), credit.blocks.end(), 0);
  const std::size_t judged = std::min(Index(most), credit.blocks.size());
  for (std::size_t i = 0; i < judged; ++i)
    std::swap(credit.blocks[i], credit.blocks[i + random.Below(credit.blocks.size() - i)]);
  credit.blocks.resize(judged);
  const auto devices = Index(problem.problem().num_devices());
  credit.gains.assign(judged * devices, 0.0f);
  RunInParallel(static_cast<int>(judged), threads, [&](int i) {
    StopIfInterrupted();
    for (std::size_t d = 0; d < devices; ++d) {
      Decisions moved = decisions;
      PlaceBlock(problem.problem(), blocks, credit.blocks[Index(i)], static_cast<int>(d), moved.device);
      if (moved.device == decisions.device) continue;
      const double then = problem.Seconds(moved);
      credit.gains[Index(i) * devices + d] =
          std::isfinite(then) ? static_cast<float>(std::max(-1.0, (now - then) / now)) : -1.0f;
    }
  });
  return credit;
}

namespace {

class BlockAnnealing {
 public:
  BlockAnnealing(const MoveProblem& problem, const Decisions& start, double seconds, Random& random)
      : problem_(problem), random_(random), now_(start), seconds_(seconds), best_(start), best_seconds_(seconds) {}

  void Run(int evaluations) {
    constexpr double kFirst = 0.01, kLast = 0.0003;  // temperatures, as shares of the best time
    for (int i = 0; i < evaluations; ++i) {
      StopIfInterrupted();
      const double temperature =
          best_seconds_ * kFirst * std::pow(kLast / kFirst, static_cast<double>(i) / evaluations);
      const GoBlocks& blocks = problem_.levels()[random_.Below(problem_.levels().size())];
      const auto block = static_cast<std::int32_t>(random_.Below(static_cast<std::uint64_t>(blocks.count())));
      const auto device = static_cast<int>(random_.Below(static_cast<std::uint64_t>(problem_.problem().num_devices())));
      Decisions moved = now_;
      PlaceBlock(problem_.problem(), blocks, block, device, moved.device);
      if (moved.device == now_.device) continue;
      const double seconds = problem_.Seconds(moved);
      if (!(seconds <= seconds_) && !(random_.Uniform() < std::exp((seconds_ - seconds) / temperature))) continue;
      now_ = std::move(moved);
      seconds_ = seconds;
      if (!(seconds_ < best_seconds_)) continue;
      best_ = now_;
      best_seconds_ = seconds_;
    }
  }

  // Blocks that are as well where they were go back there.
  Decisions Tidied(const GoBlocks& blocks, const Decisions& start) {
    const std::vector<int> before = DevicesOfBlocks(problem_.problem(), blocks, start.device);
    const std::vector<int> after = DevicesOfBlocks(problem_.problem(), blocks, best_.device);
    for (std::int32_t block = 0; block < blocks.count(); ++block) {
      if (before[Index(block)] == after[Index(block)]) continue;
      Decisions back = best_;
      PlaceBlock(problem_.problem(), blocks, block, before[Index(block)], back.device);
      const double seconds = problem_.Seconds(back);
      if (!(seconds <= best_seconds_)) continue;
      best_ = std::move(back);
      best_seconds_ = seconds;
    }
    return std::move(best_);
  }

 private:
  const MoveProblem& problem_;
  Random& random_;
  Decisions now_;
  double seconds_;
  Decisions best_;
  double best_seconds_;
};

}  // namespace

Credit FindJointCredit(const MoveProblem& problem, const GoBlocks& blocks, const Decisions& decisions, double now,
                       int evaluations, float gain, Random& random) {
  BlockAnnealing annealing(problem, decisions, now, random);
  annealing.Run(evaluations);
  const Decisions found = annealing.Tidied(blocks, decisions);
  const std::vector<int> devices = DevicesOfBlocks(problem.problem(), blocks, found.device);
  Credit credit;
  credit.blocks.resize(Index(blocks.count()));
  std::iota(credit.blocks.begin(), credit.blocks.end(), 0);
  const auto count = Index(problem.problem().num_devices());
  credit.gains.assign(credit.blocks.size() * count, 0.0f);
  for (std::size_t block = 0; block < devices.size(); ++block)
    credit.gains[block * count + Index(devices[block])] = gain;
  return credit;
}

}  // namespace millrace
