// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/context_fit.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "millrace/plan/chain_graph.h"
#include "millrace/simulate/timeline.h"
#include "millrace/target/statistics.h"

namespace millrace {
namespace {

constexpr std::size_t kLeastTimelines = 4;
constexpr int kMostOpsInContext = 5000;
constexpr double kTypeShrinkage = 2;   // observations that a type's deviation of 0 counts for
constexpr double kOpShrinkage = 0.25;  // the same of an op's
constexpr double kMostLogFactor = 2;

// A group that ran.
struct SeenGroup {
  std::span<const OpId> ops;
  std::vector<double> shares;  // of the ops in its time
  std::size_t kind = 0;
  double predicted = 0, seconds = 0;
  double bytes_from_elsewhere = 0;
  std::optional<double> wait;  // from the last input's arrival from elsewhere to the start; absent: it waited for none

  double LogRatio() const { return std::log(seconds / predicted); }
};

bool ShareAUnit(const Machine& machine, int a, int b) {
  const std::vector<int>& of_a = machine.devices[static_cast<std::size_t>(a)].units;
  const std::vector<int>& of_b = machine.devices[static_cast<std::size_t>(b)].units;
  return std::any_of(of_a.begin(), of_a.end(),
                     [&of_b](int unit) { return std::find(of_b.begin(), of_b.end(), unit) != of_b.end(); });
}

// What the candidate's groups did. The last of their inputs counts as waited for where it came after the units were
// free.
void LookAt(const CostModel& proxy, const Machine& machine, const std::vector<int>& kinds, const Candidate& candidate,
            std::vector<SeenGroup>& observations) {
  const Plan& plan = candidate.plan;
  const CostedGraph costed = MakeCostedGraph(proxy, plan.groups);
  const Timeline& run = *candidate.measured;
  std::vector<double> units_free(plan.groups.size(), 0.0);  // by group
  for (const std::vector<int>& chain : UnitChains(costed.topology, {plan.placement, plan.sequence})) {
    for (std::size_t i = 1; i < chain.size(); ++i) {
      double& free = units_free[static_cast<std::size_t>(chain[i])];
      free = std::max(free, run.finish[static_cast<std::size_t>(chain[i - 1])]);
    }
  }
  for (std::size_t group = 0; group < plan.groups.size(); ++group) {
    const int device = plan.placement[group];
    SeenGroup seen;
    seen.ops = plan.groups[group];
    seen.predicted = costed.Seconds(static_cast<int>(group), device);
    seen.seconds = candidate.group_seconds[group];
    if (!(seen.predicted > 0) || !std::isfinite(seen.predicted) || !(seen.seconds > 0)) continue;
    seen.shares = SharesOfOps(proxy, seen.ops, device);
    seen.kind = static_cast<std::size_t>(kinds[static_cast<std::size_t>(device)]);
    double last = units_free[group];
    for (const GroupEdge& edge : costed.Predecessors(static_cast<int>(group))) {
      const auto from = static_cast<std::size_t>(edge.group);
      const bool elsewhere = !ShareAUnit(machine, plan.placement[from], device);
      if (elsewhere) seen.bytes_from_elsewhere += edge.bytes;
      if (run.finish[from] <= last) continue;
      last = run.finish[from];
      seen.wait = elsewhere ? std::optional(std::max(0.0, run.start[group] - last)) : std::nullopt;
    }
    observations.push_back(std::move(seen));
  }
}

// Log factors by op and kind.
class Factors {
 public:
  Factors(const ComputationGraph& graph, std::size_t kinds) : kinds_(kinds), of_kind_(kinds, 0.0) {
    std::map<std::string, std::size_t> numbers;
    for (OpId op = 0; op < graph.num_ops(); ++op)
      type_.push_back(numbers.emplace(graph.op(op).type, numbers.size()).first->second);
    of_type_.assign(numbers.size() * kinds, 0.0);
    of_op_.assign(type_.size() * kinds, 0.0);
  }

  double LogOf(OpId op, std::size_t kind) const {
    const auto number = static_cast<std::size_t>(op);
    return std::clamp(of_kind_[kind] + of_type_[type_[number] * kinds_ + kind] + of_op_[number * kinds_ + kind],
                      -kMostLogFactor, kMostLogFactor);
  }
  double LogOf(const SeenGroup& seen) const {
    double sum = 0;
    for (std::size_t i = 0; i < seen.ops.size(); ++i) sum += seen.shares[i] * LogOf(seen.ops[i], seen.kind);
    return sum;
  }

  void Fit(const std::vector<const SeenGroup*>& observations) {
    std::vector<std::vector<double>> of_kind(kinds_);
    std::vector<double> all;
    for (const SeenGroup* seen : observations) {
      of_kind[seen->kind].push_back(seen->LogRatio());
      all.push_back(seen->LogRatio());
    }
    for (std::size_t kind = 0; kind < kinds_; ++kind)
      of_kind_[kind] = all.empty() ? 0 : Median(of_kind[kind].empty() ? all : of_kind[kind]);
    Deviations(observations, kTypeShrinkage, of_type_,
               [this](OpId op, std::size_t kind) { return type_[static_cast<std::size_t>(op)] * kinds_ + kind; });
    Deviations(observations, kOpShrinkage, of_op_,
               [this](OpId op, std::size_t kind) { return static_cast<std::size_t>(op) * kinds_ + kind; });
  }

  std::vector<double> ByOpAndKind() const {
    std::vector<double> factors;
    for (OpId op = 0; op < static_cast<OpId>(type_.size()); ++op) {
      for (std::size_t kind = 0; kind < kinds_; ++kind) factors.push_back(std::exp(LogOf(op, kind)));
    }
    return factors;
  }

 private:
  // What is left of the observations, to those that `index` puts together.
  template <typename IndexOf>
  void Deviations(const std::vector<const SeenGroup*>& observations, double shrinkage, std::vector<double>& deviations,
                  IndexOf index) {
    std::vector<double> sum(deviations.size(), 0.0), weight(deviations.size(), shrinkage);
    for (const SeenGroup* seen : observations) {
      const double left = seen->LogRatio() - LogOf(*seen);
      for (std::size_t i = 0; i < seen->ops.size(); ++i) {
        const std::size_t at = index(seen->ops[i], seen->kind);
        sum[at] += seen->shares[i] * left;
        weight[at] += seen->shares[i];
      }
    }
    for (std::size_t at = 0; at < deviations.size(); ++at) deviations[at] += sum[at] / weight[at];
  }

  std::size_t kinds_;
  std::vector<std::size_t> type_;  // by op
  std::vector<double> of_kind_;
  std::vector<double> of_type_;  // by type and kind
  std::vector<double> of_op_;    // by op and kind
};

// Those from their own units alone, and of ops that none of these has all others.
std::vector<const SeenGroup*> WhoSpeak(const std::vector<const SeenGroup*>& observations, std::size_t ops,
                                       std::size_t kinds) {
  std::vector<bool> known(ops * kinds, false);
  std::vector<const SeenGroup*> speakers;
  const auto at = [kinds](const SeenGroup& seen, OpId op) { return static_cast<std::size_t>(op) * kinds + seen.kind; };
  for (const SeenGroup* seen : observations) {
    if (seen->bytes_from_elsewhere > 0) continue;
    speakers.push_back(seen);
    for (const OpId op : seen->ops) known[at(*seen, op)] = true;
  }
  for (const SeenGroup* seen : observations) {
    if (seen->bytes_from_elsewhere > 0 &&
        std::none_of(seen->ops.begin(), seen->ops.end(), [&](OpId op) { return known[at(*seen, op)]; }))
      speakers.push_back(seen);
  }
  return speakers;
}

TransferGuess HandOverOf(const std::vector<const SeenGroup*>& observations, const Factors& factors) {
  std::vector<double> waits;
  double excess = 0, square = 0;
  for (const SeenGroup* seen : observations) {
    if (seen->wait) waits.push_back(*seen->wait);
    const double beyond = seen->seconds - seen->predicted * std::exp(factors.LogOf(*seen));
    excess += seen->bytes_from_elsewhere * beyond;
    square += seen->bytes_from_elsewhere * seen->bytes_from_elsewhere;
  }
  TransferGuess hand_over;
  if (!waits.empty()) hand_over.seconds = Median(waits);
  if (square > 0) hand_over.seconds_per_byte = std::max(0.0, excess / square);
  return hand_over;
}

std::vector<const Candidate*> WithTimelines(const std::vector<Candidate>& candidates) {
  std::vector<const Candidate*> measured;
  for (const Candidate& candidate : candidates) {
    if (candidate.measured && candidate.target_seconds.value_or(0) > 0 && candidate.proxy_seconds > 0 &&
        std::isfinite(candidate.proxy_seconds))
      measured.push_back(&candidate);
  }
  return measured;
}

double PredictedSeconds(const CostModel& model, const Candidate& candidate) {
  const CostedGraph costed = MakeCostedGraph(model, candidate.plan.groups);
  return Simulator(costed).Makespan(candidate.plan.placement, candidate.plan.sequence);
}

// Keeps what it is made of.
class InContext final : public CostModel {
 public:
  InContext(const CostModel& proxy, const Machine& machine, const ContextFit& fit)
      : with_hand_over_(GuessedModel(proxy, machine, fit.hand_over)),
        corrected_(CorrectedModel(*with_hand_over_, machine, fit.durations)) {}

  double GroupSeconds(std::span<const OpId> ops, int device) const override {
    return corrected_->GroupSeconds(ops, device);
  }
  const Topology& topology() const override { return corrected_->topology(); }
  const ComputationGraph& graph() const override { return corrected_->graph(); }

 private:
  std::unique_ptr<CostModel> with_hand_over_;
  std::unique_ptr<CostModel> corrected_;
};

// Standard deviation of log(measured / predicted).
double LogDeviation(const CostModel& model, const std::vector<const Candidate*>& measured) {
  double sum = 0, squares = 0;
  for (const Candidate* candidate : measured) {
    const double log_ratio = std::log(*candidate->target_seconds / PredictedSeconds(model, *candidate));
    sum += log_ratio;
    squares += log_ratio * log_ratio;
  }
  const auto count = static_cast<double>(measured.size());
  return std::sqrt(std::max(0.0, squares / count - sum / count * (sum / count)));
}

// Everything that was seen, by candidate.
class Seen {
 public:
  Seen(const CostModel& proxy, const Machine& machine, const std::vector<Candidate>& candidates)
      : proxy_(proxy), measured_(WithTimelines(candidates)), kinds_(KindNumbers(machine)) {
    for (const Candidate* candidate : measured_) {
      of_candidate_.emplace_back();
      LookAt(proxy, machine, kinds_, *candidate, of_candidate_.back());
    }
  }

  const std::vector<const Candidate*>& measured() const { return measured_; }

  // From all but one of them; -1: from all.
  ContextFit FitWithout(std::ptrdiff_t left_out) const {
    std::vector<const SeenGroup*> observations;
    for (std::size_t i = 0; i < of_candidate_.size(); ++i) {
      if (static_cast<std::ptrdiff_t>(i) == left_out) continue;
      for (const SeenGroup& seen : of_candidate_[i]) observations.push_back(&seen);
    }
    const std::size_t num_kinds = 1 + static_cast<std::size_t>(*std::max_element(kinds_.begin(), kinds_.end()));
    Factors factors(proxy_.graph(), num_kinds);
    factors.Fit(WhoSpeak(observations, static_cast<std::size_t>(proxy_.graph().num_ops()), num_kinds));
    return {{factors.ByOpAndKind(), 0, 0}, HandOverOf(observations, factors)};
  }

 private:
  const CostModel& proxy_;
  std::vector<const Candidate*> measured_;
  std::vector<int> kinds_;
  std::vector<std::vector<SeenGroup>> of_candidate_;
};

bool Teach(const CostModel& proxy, std::size_t timelines) {
  return timelines >= kLeastTimelines && proxy.graph().num_ops() <= kMostOpsInContext;
}

}  // namespace

std::optional<ContextFit> FitContext(const CostModel& proxy, const Machine& machine,
                                     const std::vector<Candidate>& candidates) {
  if (!Teach(proxy, WithTimelines(candidates).size())) return std::nullopt;
  const Seen seen(proxy, machine, candidates);
  ContextFit fit = seen.FitWithout(-1);
  fit.durations.error_before = LogDeviation(proxy, seen.measured());
  fit.durations.error = LogDeviation(*ModelInContext(proxy, machine, fit), seen.measured());
  return fit;
}

std::unique_ptr<CostModel> ModelInContext(const CostModel& proxy, const Machine& machine, const ContextFit& fit) {
  return std::make_unique<InContext>(proxy, machine, fit);
}

std::optional<ProxyJudgement> JudgeContext(const CostModel& proxy, const Machine& machine,
                                           const std::vector<Candidate>& candidates) {
  const std::size_t timelines = WithTimelines(candidates).size();
  if (timelines < 2 || !Teach(proxy, timelines - 1)) return std::nullopt;
  const Seen seen(proxy, machine, candidates);
  std::vector<double> predicted;
  for (std::size_t i = 0; i < timelines; ++i) {
    const ContextFit fit = seen.FitWithout(static_cast<std::ptrdiff_t>(i));
    predicted.push_back(PredictedSeconds(*ModelInContext(proxy, machine, fit), *seen.measured()[i]));
  }
  return JudgePredictions(predicted, seen.measured());
}

}  // namespace millrace
