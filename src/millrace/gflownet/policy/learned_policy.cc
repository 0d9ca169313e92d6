// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/policy/learned_policy.h"

#include <charconv>
#include <cmath>

#include "millrace/errors/errors.h"
#include "millrace/errors/shown.h"
#include "millrace/gflownet/policy/message_passing.h"
#include "millrace/gflownet/policy/topoformer.h"
#include "millrace/network/network_layout.h"

namespace millrace {
namespace {

double Number(const Weights& weights, const std::string& what, double otherwise) {
  const auto stated = weights.metadata.find(what);
  if (stated == weights.metadata.end()) return otherwise;
  const std::string& text = stated->second;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value > 0))
    throw InvalidInput("the metadata '" + what + "' is '" + Shown(text) + "' and should be a number above 0");
  return value;
}

}  // namespace

TemperatureRange TrainedTemperatures(const Weights& weights) {
  const TemperatureRange all;
  return {Number(weights, "lowest_temperature", all.lowest), Number(weights, "highest_temperature", all.highest)};
}

std::unique_ptr<Policy> MakeLearnedPolicy(const Weights& weights) {
  const std::string& architecture = StatedBy(weights, "architecture");
  if (architecture == "mpnn") return MakeMessagePassingPolicy(weights);
  if (architecture == "topoformer") return MakeTopoformerPolicy(weights);
  throw InvalidInput("these weights are of the architecture '" + Shown(architecture) +
                     "'; 'mpnn' and 'topoformer' are known here");
}

std::unique_ptr<Policy> MakeUntrainedPolicy(const Weights& trained) {
  Random random(0);
  if (StatedBy(trained, "architecture") == "mpnn") {
    Weights start = InitialMessagePassingWeights(random);
    if (LooksAhead(trained)) LookAhead(start);
    return MakeMessagePassingPolicy(start);
  }
  const bool state = StatedBy(trained, "encodes") == "state";
  Weights start = InitialTopoformerWeights(state ? Encodes::kState : Encodes::kGraph, random, BackwardOf(trained));
  ScalePriors(Number(trained, "prior_scale", 1), start);
  return MakeTopoformerPolicy(start);
}

void ScalePriors(double factor, Weights& weights) {
  for (auto& [name, tensor] : weights.tensors) {
    if (!name.ends_with(".strength.bias") || name.starts_with("completion")) continue;
    for (float& value : tensor.values) value += static_cast<float>(std::log(factor));  // strengths are logarithms
  }
}

std::unique_ptr<Policy> ReadLearnedPolicy(const std::string& path) {
  const Weights weights = ReadWeights(path);
  try {
    return MakeLearnedPolicy(weights);
  } catch (const InvalidInput& error) {
    throw error.InFile(path);
  }
}

}  // namespace millrace
