// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/transfer_guess.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "millrace/simulate/timeline.h"

namespace millrace {
namespace {

// In mean ops' seconds per mean transfer; the grid takes every pair of them, one per byte and one constant.
constexpr double kShares[] = {0, 0.1, 0.3, 0.6, 1, 2, 4, 8};
constexpr double kFirstShares[] = {0.3, 1, 3};
constexpr std::size_t kLeastMeasured = 4;
constexpr double kWorthwhile = 0.9;  // of the error without a guess

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

double Error(const CostModel& model, const std::vector<const Candidate*>& measured) {
  std::vector<double> ratios;
  for (const Candidate* candidate : measured) {
    const CostedGraph costed = MakeCostedGraph(model, candidate->plan.groups);
    Simulator simulator(costed);
    ratios.push_back(
        std::log(*candidate->target_seconds / simulator.Makespan(candidate->plan.placement, candidate->plan.sequence)));
  }
  double mean = 0, square = 0;
  for (const double ratio : ratios) mean += ratio / static_cast<double>(ratios.size());
  for (const double ratio : ratios) square += (ratio - mean) * (ratio - mean);
  return std::sqrt(square / static_cast<double>(ratios.size()));
}

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

TransferFit FitTransfers(const CostModel& proxy, const Machine& machine, const std::vector<Candidate>& candidates) {
  std::vector<const Candidate*> measured;
  for (const Candidate& candidate : candidates) {
    if (candidate.target_seconds && *candidate.target_seconds > 0 && candidate.proxy_seconds > 0)
      measured.push_back(&candidate);
  }
  TransferFit fit;
  if (measured.size() < kLeastMeasured) return fit;
  const Means means = MeansOf(proxy);
  fit.error_before = fit.error = Error(proxy, measured);
  for (const double constant : kShares) {
    for (const double byte : kShares) {
      const TransferGuess guess = GuessOf(means, constant, byte);
      if (guess == TransferGuess{}) continue;
      const double error = Error(*GuessedModel(proxy, machine, guess), measured);
      if (error < fit.error) {
        fit.error = error;
        fit.guess = guess;
      }
    }
  }
  if (fit.error > kWorthwhile * fit.error_before) return {{}, fit.error_before, fit.error_before};
  return fit;
}

}  // namespace millrace
