// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "millrace/errors/errors.h"
#include "millrace/errors/shown.h"
#include "millrace/gflownet/environment/graph_features.h"
#include "millrace/gflownet/environment/observation.h"
#include "millrace/gflownet/policy/completions.h"
#include "millrace/gflownet/policy/message_passing.h"
#include "millrace/gflownet/policy/state_features.h"
#include "millrace/gflownet/policy/topoformer.h"
#include "millrace/network/network_layout.h"

namespace millrace {
namespace {

constexpr std::array<double, kCompletions> kCompletionStartStrengths = {0.1, 0.1, 0.8};

void AddLayer(NetworkLayout& layout, const std::string& layer, int heads) {
  layout.AddNorm(layer + ".norm.0", kWidth);
  for (const char* part : {".query", ".key", ".value"})
    layout.AddWeight(layer + part, heads * kAttention, kWidth, 2 * kWidth);
  layout.AddZeros(layer + ".edge.weight", kDirectRelations);
  layout.AddWeight(layer + ".join", kWidth, heads * kAttention, 2 * heads * kAttention);
  layout.AddBias(layer + ".join", kWidth);
  layout.AddNorm(layer + ".norm.1", kWidth);
  layout.AddWeight(layer + ".first", kFeedForward, kWidth, kWidth);
  layout.AddBias(layer + ".first", kFeedForward);
  layout.AddZeroWeight(layer + ".scale", kFeedForward, kCondition);
  layout.AddZeroWeight(layer + ".shift", kFeedForward, kCondition);
  layout.AddWeight(layer + ".out", kWidth, kFeedForward, 2 * kFeedForward);
  layout.AddBias(layer + ".out", kWidth);
}

void AddGraphHeads(NetworkLayout& layout) {
  layout.AddHead("group", kGroupFeatures, kGroupPriors, 0);
  layout.AddHead("device", kDeviceChoiceFeatures, kDeviceChoicePriors, kHidden);
  layout.AddWeight("device.device.0", kHidden, kDeviceFeatures, kDeviceFeatures);
  layout.AddBias("device.device.0", kHidden);
  layout.AddWeight("device.device.1", kHidden, kHidden, kWidth + kCondition + kDeviceChoiceFeatures + kHidden);
  layout.AddBias("device.device.1", kHidden);
}

void AddStateHeads(NetworkLayout& layout) {
  layout.AddWeight("place.0", kHidden, kDeviceFeatures + kStateDeviceFeatures, kDeviceFeatures + kStateDeviceFeatures);
  layout.AddBias("place.0", kHidden);
  layout.AddWeight("place.1", kHidden, kHidden, kHidden);
  layout.AddBias("place.1", kHidden);
  layout.AddHead("joint", kDeviceChoiceFeatures, kDeviceChoicePriors, kHidden);
  layout.AddZeroWeight("joint.gain", kHidden, kCondition);
  layout.AddWeight("joint.completions", kHidden, kCompletions, kWidth + kCondition + kDeviceChoiceFeatures + kHidden);
  layout.AddZeroWeight("completion.strength", kCompletions, kCondition);
  layout.AddBias("completion.strength", kCompletions);
  layout.AddWeight("joint.place", kHidden, kHidden, kWidth + kCondition + kDeviceChoiceFeatures + kHidden);
  layout.AddZeroWeight("group.strength", kGroupPriors, kCondition);
  layout.AddBias("group.strength", kGroupPriors);
}

void AddBackwardHead(NetworkLayout& layout) {
  constexpr int kInputs = kWidth + kCondition + kHidden;
  layout.AddWeight("backward.embed", kHidden, kWidth, kInputs);
  layout.AddBias("backward.embed", kHidden);
  layout.AddWeight("backward.condition", kHidden, kCondition, kInputs);
  layout.AddWeight("backward.place", kHidden, kHidden, kInputs);
  layout.AddWeight("backward.hidden", kHidden, kHidden, kHidden);
  layout.AddBias("backward.hidden", kHidden);
  layout.AddZeroWeight("backward.out", 1, kHidden);
}

NetworkLayout Layout(Encodes encodes, Backward backward) {
  const bool state = encodes == Encodes::kState;
  const int inputs = kNodeFeatures + (state ? kStateGroupFeatures + kHidden : 0);
  NetworkLayout layout;
  layout.AddWeight("condition.0", kCondition, 1 + kGlobalFeatures, 1 + kGlobalFeatures);
  layout.AddBias("condition.0", kCondition);
  layout.AddWeight("condition.1", kCondition, kCondition, kCondition);
  layout.AddBias("condition.1", kCondition);
  layout.AddWeight("input", kWidth, kNodeFeatures, inputs);
  layout.AddBias("input", kWidth);
  if (state) {
    layout.AddWeight("input.state", kWidth, kStateGroupFeatures, inputs);
    layout.AddWeight("input.place", kWidth, kHidden, inputs);
  }
  for (int l = 0; l < kTopoformerLayers; ++l)
    AddLayer(layout, "layer." + std::to_string(l), kRelations + (state ? kChainRelations : 0));
  layout.AddNorm("norm", kWidth);
  if (state)
    AddStateHeads(layout);
  else
    AddGraphHeads(layout);
  if (backward == Backward::kLearned) {
    if (!state) throw InvalidInput("a topoformer that encodes the graph once has no backward policy of its own");
    AddBackwardHead(layout);
  }
  return layout;
}

}  // namespace

std::vector<std::pair<std::string, std::vector<std::int64_t>>> TopoformerShapes(Encodes encodes, Backward backward) {
  return Layout(encodes, backward).Shapes();
}

Weights InitialTopoformerWeights(Encodes encodes, Random& random, Backward backward) {
  Weights weights = Layout(encodes, backward).Start("topoformer", random);
  if (backward == Backward::kLearned) weights.metadata["backward"] = "learned";
  weights.metadata["encodes"] = encodes == Encodes::kState ? "state" : "graph";
  StartStrengths(weights, "group", kGroupStartStrengths);
  StartStrengths(weights, encodes == Encodes::kState ? "joint" : "device", kDeviceStartStrengths);
  if (encodes == Encodes::kState) StartStrengths(weights, "completion", kCompletionStartStrengths);
  return weights;
}

Backward BackwardOf(const Weights& weights) {
  const auto stated = weights.metadata.find("backward");
  if (stated == weights.metadata.end()) return Backward::kUniform;
  if (stated->second != "learned")
    throw InvalidInput("these weights say that their backward policy is '" + Shown(stated->second) +
                       "'; it is learned, or nothing is said");
  return Backward::kLearned;
}

}  // namespace millrace
