// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <memory>
#include <string>

#include "millrace/gflownet/policy/policy.h"
#include "millrace/network/weights.h"

// The policy that given weights are for. Their metadata say which architecture that is.
namespace millrace {

// Throws InvalidInput for an unknown architecture, version or shape.
std::unique_ptr<Policy> MakeLearnedPolicy(const Weights& weights);

// The policy that training of such weights begins with, other random numbers aside: the priors alone.
std::unique_ptr<Policy> MakeUntrainedPolicy(const Weights& trained);

// Multiplies the strengths of the heuristic priors, not those of completions (completions.h).
void ScalePriors(double factor, Weights& weights);

// The reward temperatures that weights were trained at. Between them a higher one draws more varied plans; beyond them
// the network says nothing that it has learned.
struct TemperatureRange {
  double lowest = 0;
  double highest = std::numeric_limits<double>::infinity();
};

// As the metadata say; all of them where these say nothing. Throws InvalidInput for metadata that are no numbers.
TemperatureRange TrainedTemperatures(const Weights& weights);

// Reads the policy from a file. Throws InvalidInput, naming the file, as ReadWeights and MakeLearnedPolicy do.
std::unique_ptr<Policy> ReadLearnedPolicy(const std::string& path);

}  // namespace millrace
