// SPDX-License-Identifier: Apache-2.0
#include "millrace/workloads/drawn_costs.h"

#include <fmt/core.h>

#include <cstddef>

#include "millrace/errors/errors.h"

namespace millrace {
namespace {

constexpr double kBytesPerSecond = 1e9;  // of the link on which the communication-to-computation ratio holds

}  // namespace

void CheckDrawnCosts(std::int64_t ops, double ccr, const KindFactors& kinds, double heterogeneity) {
  if (ops < 1 || ops > kMostDrawnOps) {
    throw InvalidInput(fmt::format("ops: a drawn graph has 1 to {} ops, not {}", kMostDrawnOps, ops));
  }
  if (!(ccr >= 0 && ccr <= kMostCcr)) {
    throw InvalidInput("ccr: the communication-to-computation ratio is a number from 0 to 1e12");
  }
  if (!(heterogeneity >= 0 && heterogeneity <= kMostHeterogeneity)) {
    throw InvalidInput("heterogeneity: it is a number from 0 to 2");
  }
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const auto& [kind, factor] = kinds[i];
    if (kind.empty()) throw InvalidInput("kinds: a device kind needs a name");
    if (!(factor > 0 && factor <= 1e12)) {
      throw InvalidInput("kinds: the factor of '" + kind + "' is a number > 0 and at most 1e12");
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (kinds[j].first == kind) throw InvalidInput("kinds: '" + kind + "' is named twice");
    }
  }
}

void StateSeconds(double seconds, const KindFactors& kinds, double heterogeneity, Random& random, Op& op) {
  if (kinds.empty()) {
    op.seconds.everywhere = seconds;
    return;
  }
  const double half = heterogeneity / 2;
  for (const auto& [kind, factor] : kinds) {
    op.seconds.by_kind.emplace_back(kind, seconds * factor * random.Uniform(1 - half, 1 + half));
  }
}

double MeanStatedSeconds(const std::vector<Op>& ops) {
  double sum = 0;
  for (const Op& op : ops) {
    if (op.seconds.everywhere) {
      sum += *op.seconds.everywhere;
      continue;
    }
    double kinds_sum = 0;
    for (const auto& entry : op.seconds.by_kind) kinds_sum += entry.second;
    sum += kinds_sum / static_cast<double>(op.seconds.by_kind.size());
  }
  return sum / static_cast<double>(ops.size());
}

void ScaleBytes(double ccr, double mean_seconds, std::vector<Tensor>& tensors) {
  double sum = 0;
  for (const Tensor& tensor : tensors) sum += tensor.bytes;
  const double mean = ccr * mean_seconds * kBytesPerSecond;
  const double scale = mean * static_cast<double>(tensors.size()) / sum;
  for (Tensor& tensor : tensors) tensor.bytes *= scale;
}

}  // namespace millrace
