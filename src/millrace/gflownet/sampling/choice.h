// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "millrace/random/random.h"

// Draws one of several choices by their logits.
namespace millrace {

// Turns logits into log-probabilities, log softmax, in place.
void LogSoftmax(std::span<float> logits);

// Index of the largest; of equal ones the first.
std::size_t MostLikely(std::span<const float> log_probabilities);

// Draws an index with probability (1 - epsilon) softmax(log_probabilities / softmax_temperature) + epsilon / size.
// Softmax temperature > 0, epsilon in 0..1. Takes one number from `random`, two if epsilon > 0.
std::size_t DrawChoice(std::span<const float> log_probabilities, double softmax_temperature, double epsilon,
                       Random& random);

}  // namespace millrace
