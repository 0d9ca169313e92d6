// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/optimize/candidate_list.h"
#include "millrace/optimize/pipeline.h"
#include "millrace/optimize/trade_plans.h"
#include "millrace/planning/plan_value.h"

// Where the best plan is not the fastest: the stage that makes such plans, and the choice among them.
namespace millrace {
namespace {

constexpr double kSearchShare = 0.6;  // of what is left, the rest is for measuring

double FastestByProxy(const std::vector<Candidate>& front) { return front.front().proxy_seconds; }

}  // namespace

void Pipeline::Trade() {
  trading_seconds_ = 0;
  if (options_.objective.aim == Objective::Aim::kLatency || pool_.entries.empty()) return;
  constexpr std::string_view kStage = "trade latency";
  TradeOptions trade;
  trade.objective = options_.objective;
  if (options_.iterations) trade.iterations = options_.iterations;
  if (deadline_.Limited()) trade.seconds = kSearchShare * End().Left();
  trade.random = Random(options_.seed).Fork(kTrading);
  Tell(kStage, "trade-search", 0);
  const std::vector<Candidate> front = TradePlans(
      pool_, trade, [&](int done, int total) { Tell(kStage, "trade-search", static_cast<double>(done) / total); });
  std::vector<Candidate> fresh;
  for (const Candidate& candidate :
       SpreadOver(front, options_.objective.Limit(FastestByProxy(front)), std::max<std::size_t>(2, options_.top_k))) {
    if (!Contains(result_.candidates, candidate)) fresh.push_back(candidate);
  }
  result_.recalled += resume_->Recall(fresh);
  result_.candidates.insert(result_.candidates.end(), fresh.begin(), fresh.end());
  Measure(1.0);
}

void Pipeline::FindValue(Candidate& candidate) const {
  if (candidate.value) return;
  const PoolFusion* const fusion = FusionOf(candidate);
  const CostedGraph own = fusion != nullptr ? CostedGraph() : MakeCostedGraph(*FreeModel(), candidate.plan.groups);
  const CostedGraph& costed = fusion != nullptr ? fusion->costed : own;
  const Assignment assignment{candidate.plan.placement, candidate.plan.sequence};
  candidate.value = MakePlanValue(options_.objective.aim, costed)(assignment, MakeTimeline(costed, assignment));
}

Candidate Pipeline::BestByObjective() {
  for (Candidate& candidate : result_.candidates) FindValue(candidate);
  result_.fastest = FastestMeasured(result_.candidates, options_.robust);
  const double limit = options_.objective.Limit(JudgedSeconds(result_.fastest, options_.robust));
  const Candidate* best = nullptr;
  for (const Candidate& candidate : result_.candidates) {
    const double seconds = JudgedSeconds(candidate, options_.robust);
    if (!candidate.target_seconds || seconds > limit) continue;
    const auto key = [this](const Candidate& one) {
      return std::pair(*one.value, JudgedSeconds(one, options_.robust));
    };
    if (best == nullptr || key(candidate) < key(*best)) best = &candidate;
  }
  if (best == nullptr) {
    throw WorkFailed("no plan takes at most " + std::to_string(limit) + " s; the fastest takes " +
                     std::to_string(*result_.fastest.target_seconds) + " s: allow more with --objective");
  }
  result_.front = MeasuredFront(result_.candidates);
  return *best;
}

}  // namespace millrace
