// SPDX-License-Identifier: Apache-2.0
#include "millrace/network/network_layout.h"

#include <cmath>

#include "millrace/errors/errors.h"
#include "millrace/errors/shown.h"
#include "millrace/network/sizes.h"

namespace millrace {
namespace {

constexpr const char* kVersion = "1";

}  // namespace

void NetworkLayout::AddWeight(const std::string& layer, int outputs, int inputs, int sum_inputs) {
  entries_.push_back({layer + ".weight", {outputs, inputs}, sum_inputs});
}

void NetworkLayout::AddZeroWeight(const std::string& layer, int outputs, int inputs) {
  AddWeight(layer, outputs, inputs, 0);
}

void NetworkLayout::AddBias(const std::string& layer, int outputs) { entries_.push_back({layer + ".bias", {outputs}}); }

void NetworkLayout::AddNorm(const std::string& layer, int width) {
  entries_.push_back({layer + ".weight", {width}, 0, 1.0f});
  AddBias(layer, width);
}

void NetworkLayout::AddZeros(const std::string& name, int count) { entries_.push_back({name, {count}}); }

void NetworkLayout::AddHead(const std::string& head, int features, int priors, int more_inputs) {
  const int sum_inputs = kWidth + kCondition + features + more_inputs;
  AddWeight(head + ".embed", kHidden, kWidth, sum_inputs);
  AddBias(head + ".embed", kHidden);
  AddWeight(head + ".condition", kHidden, kCondition, sum_inputs);
  AddWeight(head + ".features", kHidden, features, sum_inputs);
  AddWeight(head + ".hidden", kHidden, kHidden, kHidden);
  AddBias(head + ".hidden", kHidden);
  AddZeroWeight(head + ".out", 1, kHidden);
  AddZeroWeight(head + ".strength", priors, kCondition);
  AddBias(head + ".strength", priors);
}

TensorShapes NetworkLayout::Shapes() const {
  TensorShapes shapes;
  for (const Entry& entry : entries_) shapes.emplace_back(entry.name, entry.shape);
  return shapes;
}

Weights NetworkLayout::Start(const std::string& architecture, Random& random) const {
  Weights weights;
  weights.metadata = {{"architecture", architecture}, {"version", kVersion}};
  for (const Entry& entry : entries_) {
    std::size_t count = 1;
    for (const std::int64_t size : entry.shape) count *= static_cast<std::size_t>(size);
    WeightTensor& tensor = weights.tensors[entry.name];
    tensor.shape = entry.shape;
    tensor.values.assign(count, entry.start);
    if (entry.sum_inputs == 0) continue;
    const double most = std::sqrt(6.0 / entry.sum_inputs);
    for (float& value : tensor.values) value = static_cast<float>(random.Uniform(-most, most));
  }
  return weights;
}

const std::string& StatedBy(const Weights& weights, const std::string& what) {
  const auto found = weights.metadata.find(what);
  if (found == weights.metadata.end()) throw InvalidInput("these weights have no '" + what + "' in their metadata");
  return found->second;
}

void CheckArchitecture(const Weights& weights, const std::string& architecture) {
  const std::string& stated = StatedBy(weights, "architecture");
  if (stated != architecture)
    throw InvalidInput("these weights are of the architecture '" + Shown(stated) + "'; '" + architecture +
                       "' is wanted here");
  const std::string& version = StatedBy(weights, "version");
  if (version != kVersion) {
    throw InvalidInput("these weights are version '" + Shown(version) + "' of " + architecture + "; version " +
                       kVersion + " is the one this program reads: train them again");
  }
}

void StartStrengths(Weights& weights, const std::string& head, std::span<const double> strengths) {
  std::vector<float>& bias = weights.tensors.at(head + ".strength.bias").values;
  for (std::size_t k = 0; k < strengths.size(); ++k) bias[k] = static_cast<float>(std::log(strengths[k]));
}

}  // namespace millrace
