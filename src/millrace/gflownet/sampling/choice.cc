// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/sampling/choice.h"

#include <algorithm>
#include <cmath>

namespace millrace {

void LogSoftmax(std::span<float> logits) {
  const float most = *std::max_element(logits.begin(), logits.end());
  float sum = 0;
  for (const float logit : logits) sum += std::exp(logit - most);
  const float normaliser = most + std::log(sum);
  for (float& logit : logits) logit -= normaliser;
}

std::size_t MostLikely(std::span<const float> log_probabilities) {
  return static_cast<std::size_t>(std::max_element(log_probabilities.begin(), log_probabilities.end()) -
                                  log_probabilities.begin());
}

std::size_t DrawChoice(std::span<const float> log_probabilities, double softmax_temperature, double epsilon,
                       Random& random) {
  const double point = random.Uniform();
  if (epsilon > 0 && random.Uniform() < epsilon)
    return std::min(static_cast<std::size_t>(point * static_cast<double>(log_probabilities.size())),
                    log_probabilities.size() - 1);
  const float most = log_probabilities[MostLikely(log_probabilities)];
  const auto flatter = static_cast<float>(1.0 / softmax_temperature);
  float sum = 0;
  if (softmax_temperature == 1) {
    sum = 1;
  } else {
    for (const float log_probability : log_probabilities) sum += std::exp((log_probability - most) * flatter);
  }
  const float shift = softmax_temperature == 1 ? 0 : most;
  auto left = static_cast<float>(point) * sum;
  for (std::size_t i = 0; i < log_probabilities.size(); ++i) {
    left -= std::exp((log_probabilities[i] - shift) * flatter);
    if (left < 0) return i;
  }
  // Rounding can leave a small rest.
  return MostLikely(log_probabilities);
}

}  // namespace millrace
