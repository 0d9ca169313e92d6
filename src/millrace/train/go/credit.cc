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
#include "millrace/search/placement_moves.h"

namespace millrace {

MoveProblem::MoveProblem(GoCase of, std::span<const int> fewest_blocks)
    : of_(std::move(of)),
      graph_(std::make_unique<const ComputationGraph>(MakeGoWorkload(of_.workload))),
      model_(MakeAnalyticCostModel(*graph_, of_.machine, Proxy::kContended)),
      problem_(std::make_unique<const GoProblem>(*model_)),
      costed_(std::make_unique<const CostedGraph>(MakeCostedGraph(*model_, GreedyFusion(*graph_)))),
      decoder_(std::make_unique<const GoDecoder>(*problem_, *costed_)),
      features_(MakeGoFeatures(*problem_)),
      levels_(MakeGoBlocks(*problem_, *costed_, fewest_blocks)),
      clusters_(MovedClusters(*costed_)) {
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

}  // namespace millrace
