// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/go/problem.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "millrace/cost/analytic_cost.h"
#include "millrace/cost/costed_graph.h"
#include "millrace/errors/errors.h"
#include "millrace/fusion/greedy_fusion.h"
#include "millrace/heuristics/list_schedulers.h"
#include "millrace/heuristics/placements.h"
#include "millrace/simulate/contention.h"
#include "millrace/train/torch/plan_reward.h"

namespace millrace {
namespace {

// Infinity where neither fits.
double SecondsByHand(const CostedGraph& costed) {
  return std::min(UsableSeconds(costed, ScheduleSequential(costed).assignment),
                  UsableSeconds(costed, ScheduleExpert(costed).assignment));
}

double WorkSeconds(const CostedGraph& costed) {
  const double work = std::accumulate(costed.fastest_seconds.begin(), costed.fastest_seconds.end(), 0.0);
  return work > 0 ? work : 1;
}

}  // namespace

GoTrainingProblem::GoTrainingProblem(std::string name, ComputationGraph graph, Machine machine)
    : name_(std::move(name)),
      graph_(std::make_unique<const ComputationGraph>(std::move(graph))),
      machine_(std::make_unique<const Machine>(std::move(machine))) {
  if (graph_->num_ops() == 0) throw InvalidInput(name_ + ": a graph without ops has no plan to learn");
  model_ = MakeAnalyticCostModel(*graph_, *machine_);
  problem_ = std::make_unique<const GoProblem>(*model_);
  decoder_ = std::make_unique<const GoDecoder>(*problem_);
  features_ = MakeGoFeatures(*problem_);
  const CostedGraph fused = MakeCostedGraph(*model_, GreedyFusion(*graph_));
  const double by_hand = SecondsByHand(fused);
  has_plan_ = std::isfinite(by_hand);
  reference_seconds_ = has_plan_ && by_hand > 0 ? by_hand : WorkSeconds(fused);
}

GoBlocks GoTrainingProblem::BlocksOf(int fewest) const {
  const CostedGraph costed = MakeCostedGraph(*model_, GreedyFusion(*graph_));
  return std::move(MakeGoBlocks(*problem_, costed, std::array{fewest}).front());
}

double GoTrainingProblem::Seconds(const Decisions& decisions) const {
  const DecodedPlan plan = decoder_->Decode(decisions);
  return plan.fits ? ContendedTimeline(*plan.costed, plan.assignment).makespan : kCannotRun;
}

}  // namespace millrace
