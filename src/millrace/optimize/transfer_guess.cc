// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/transfer_guess.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "millrace/optimize/candidate_list.h"
#include "millrace/simulate/timeline.h"

namespace millrace {
namespace {

// In mean ops' seconds per mean transfer; the grid takes every pair of them, one constant and one per byte. The best
// is then moved up and down by ever smaller steps.
constexpr double kShares[] = {0.1, 0.3, 1, 3, 10};
constexpr double kFirstStep = 0.5;
constexpr int kHalvings = 6;
constexpr std::int64_t kMostVisits = 2'000'000'000;
constexpr double kFirstShares[] = {0.3, 1, 3};
constexpr std::size_t kLeastMeasuredToGuess = 4;
constexpr double kWorthwhileGuess = 0.9;  // of the error without a guess

// What shares are shares of.
struct Means {
  double seconds = 0;  // of an op, over those that take any time
  double bytes = 0;    // of a tensor that goes from op to op
};

Means MeansOf(const CostModel& proxy) {
  const ComputationGraph& graph = proxy.graph();
  Means means;
  double ops = 0, edges = 0;
  for (OpId op = 0; op < graph.num_ops(); ++op) {
    double least = std::numeric_limits<double>::infinity();
    for (int device = 0; device < proxy.topology().num_devices; ++device)
      least = std::min(least, proxy.GroupSeconds(std::span(&op, 1), device));
    if (!(least > 0) || !std::isfinite(least)) continue;
    means.seconds += least;
    ops += 1;
  }
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.producer < 0) continue;
    means.bytes += tensor.bytes * static_cast<double>(tensor.consumers.size());
    edges += static_cast<double>(tensor.consumers.size());
  }
  if (ops > 0) means.seconds /= ops;
  if (edges > 0) means.bytes /= edges;
  return means;
}

TransferGuess GuessOf(const Means& means, double constant_share, double byte_share) {
  return {constant_share * means.seconds, means.bytes > 0 ? byte_share * means.seconds / means.bytes : 0};
}

// Measured candidates, and how far from proportional to their times the proxy is under a guess.
class TransferFitting {
 public:
  TransferFitting(const CostModel& proxy, const Machine& machine, const std::vector<Candidate>& candidates)
      : proxy_(proxy), machine_(machine) {
    for (const Candidate& candidate : candidates) {
      if (!candidate.target_seconds || !(*candidate.target_seconds > 0) || !(candidate.proxy_seconds > 0)) continue;
      std::size_t costed = 0;
      while (costed < costed_.size() && costed_[costed].groups != candidate.plan.groups) ++costed;
      if (costed == costed_.size()) costed_.push_back(MakeCostedGraph(proxy, candidate.plan.groups));
      measured_.push_back({&candidate, costed});
      visits_ += costed_[costed].num_groups + static_cast<std::int64_t>(costed_[costed].predecessors.size());
    }
  }

  std::size_t measured() const { return measured_.size(); }

  // Groups and edges that one question looks at.
  std::int64_t visits() const { return visits_; }

  // Standard deviation of log(measured / proxy under the guess).
  double Error(const TransferGuess& guess) {
    const Topology topology = GuessedModel(proxy_, machine_, guess)->topology();
    std::vector<double> ratios(measured_.size());
    for (std::size_t c = 0; c < costed_.size(); ++c) {
      costed_[c].topology = topology;
      Simulator simulator(costed_[c]);
      for (std::size_t i = 0; i < measured_.size(); ++i) {
        if (measured_[i].costed != c) continue;
        const Candidate& candidate = *measured_[i].candidate;
        ratios[i] =
            std::log(*candidate.target_seconds / simulator.Makespan(candidate.plan.placement, candidate.plan.sequence));
      }
    }
    double mean = 0, square = 0;
    for (const double ratio : ratios) mean += ratio / static_cast<double>(ratios.size());
    for (const double ratio : ratios) square += (ratio - mean) * (ratio - mean);
    return std::sqrt(square / static_cast<double>(ratios.size()));
  }

 private:
  struct Measured {
    const Candidate* candidate;
    std::size_t costed;
  };

  const CostModel& proxy_;
  const Machine& machine_;
  std::vector<CostedGraph> costed_;  // of each way of fusing among the candidates
  std::vector<Measured> measured_;
  std::int64_t visits_ = 1;
};

}  // namespace

std::unique_ptr<CostModel> GuessedModel(const CostModel& proxy, const Machine& machine, const TransferGuess& guess) {
  Perturbation perturbation;
  perturbation.added = guess;
  return MakePerturbedCostModel(proxy, machine, perturbation);
}

std::vector<TransferGuess> FirstGuesses(const CostModel& proxy, const Machine& machine) {
  std::vector<TransferGuess> guesses{{}};
  const Means means = MeansOf(proxy);
  const bool moot = GuessedModel(proxy, machine, {1, 0})->topology().latency == proxy.topology().latency;
  if (moot || means.seconds == 0) return guesses;
  for (const double share : kFirstShares) guesses.push_back(GuessOf(means, share / 2, share / 2));
  return guesses;
}

TransferFit FitTransfers(const CostModel& proxy, const Machine& machine, const std::vector<Candidate>& candidates,
                         const Deadline& deadline) {
  TransferFitting fitting(proxy, machine, candidates);
  if (fitting.measured() < kLeastMeasuredToGuess || AllTakeTheSame(candidates)) return {};
  const Means means = MeansOf(proxy);
  double constant = 0, byte = 0;
  const double error_before = fitting.Error({});
  double error = error_before;
  std::int64_t questions = kMostVisits / fitting.visits();
  const auto ask = [&](double constant_share, double byte_share) {
    if (questions-- <= 0 || deadline.Passed()) return false;
    const double here = fitting.Error(GuessOf(means, constant_share, byte_share));
    if (!(here < error)) return false;
    error = here;
    constant = constant_share;
    byte = byte_share;
    return true;
  };
  for (const double share : kShares) {
    ask(share, 0);
    ask(0, share);
    for (const double other : kShares) ask(share, other);
  }
  double step = kFirstStep;
  for (int halving = 0; halving < kHalvings; ++halving) {
    for (bool better = true; better;) {
      better = false;
      for (const double factor : {1 + step, 1 / (1 + step)})
        better = ask(constant * factor, byte) || ask(constant, byte * factor) || better;
    }
    step /= 2;
  }
  if (error > kWorthwhileGuess * error_before) return {{}, error_before, error_before};
  return {GuessOf(means, constant, byte), error_before, error};
}

}  // namespace millrace
