// SPDX-License-Identifier: Apache-2.0
#include "millrace/go/features.h"
#include "millrace/go/network.h"
#include "millrace/network/network_layout.h"

namespace millrace {
namespace {

void AddSage(NetworkLayout& layout, const std::string& name) {
  for (const std::string& direction : {name + ".forward", name + ".backward"}) {
    layout.AddWeight(direction, kMessage, kWidth, kWidth + 1);
    layout.AddBias(direction, kMessage);
    layout.AddWeight(direction + ".edge", kMessage, 1, kWidth + 1);
  }
  layout.AddWeight(name + ".mix", kWidth, kWidth + 2 * kMessage, kWidth + 2 * kMessage);
  layout.AddBias(name + ".mix", kWidth);
}

void AddSegmentLayer(NetworkLayout& layout, const std::string& name) {
  constexpr int kHeads = kSegmentHeads * kAttention;
  layout.AddNorm(name + ".norm.0", kWidth);
  layout.AddZeroWeight(name + ".super.0", kWidth, kCondition);
  for (const char* part : {".query", ".key", ".value"}) layout.AddWeight(name + part, kHeads, kWidth, 2 * kWidth);
  layout.AddWeight(name + ".join", kWidth, kHeads, 2 * kHeads);
  layout.AddBias(name + ".join", kWidth);
  layout.AddNorm(name + ".norm.1", kWidth);
  layout.AddZeroWeight(name + ".super.1", kWidth, kCondition);
  layout.AddWeight(name + ".first", kFeedForward, kWidth, kWidth);
  layout.AddBias(name + ".first", kFeedForward);
  layout.AddWeight(name + ".out", kWidth, kFeedForward, 2 * kFeedForward);
  layout.AddBias(name + ".out", kWidth);
}

void AddLevelHead(NetworkLayout& layout, const std::string& head) {
  constexpr int kInputs = kWidth + kCondition + kLevelFeatures;
  layout.AddWeight(head + ".embed", kHidden, kWidth, kInputs);
  layout.AddBias(head + ".embed", kHidden);
  layout.AddWeight(head + ".condition", kHidden, kCondition, kInputs);
  layout.AddWeight(head + ".features", kHidden, kLevelFeatures, kInputs);
  layout.AddWeight(head + ".hidden", kHidden, kHidden, kHidden);
  layout.AddBias(head + ".hidden", kHidden);
  layout.AddZeroWeight(head + ".out", kLevels, kHidden);
  layout.AddBias(head + ".out", kLevels);
  layout.AddZeroWeight(head + ".strength", kLevelPriors, kCondition);
  layout.AddBias(head + ".strength", kLevelPriors);
}

NetworkLayout Layout() {
  constexpr int kPooled = 2 * kWidth + kGoGlobalFeatures;
  constexpr int kTaskInputs = static_cast<int>(kTasks.size()) + 2 * kDecisionFeatures;
  NetworkLayout layout;
  layout.AddWeight("input", kWidth, kGoOpFeatures, kGoOpFeatures);
  layout.AddBias("input", kWidth);
  for (int l = 0; l < kSageLayers; ++l) AddSage(layout, "sage." + std::to_string(l));
  layout.AddWeight("condition.0", kCondition, kPooled, kPooled);
  layout.AddBias("condition.0", kCondition);
  layout.AddWeight("condition.1", kCondition, kCondition, kCondition);
  layout.AddBias("condition.1", kCondition);
  for (int l = 0; l < kSegmentLayers; ++l) AddSegmentLayer(layout, "layer." + std::to_string(l));
  layout.AddNorm("norm", kWidth);
  layout.AddWeight("task.which", kWidth, static_cast<int>(kTasks.size()), kTaskInputs);
  layout.AddWeight("task.before", kWidth, kDecisionFeatures, kTaskInputs);
  layout.AddWeight("task.chosen", kWidth, kDecisionFeatures, kTaskInputs);
  AddSegmentLayer(layout, "task");
  layout.AddHead("place", kPlaceFeatures, kPlacePriors, kHidden);
  layout.AddWeight("place.device.0", kHidden, kGoDeviceFeatures, kGoDeviceFeatures);
  layout.AddBias("place.device.0", kHidden);
  layout.AddWeight("place.device.1", kHidden, kHidden, kWidth + kCondition + kPlaceFeatures + kHidden);
  layout.AddBias("place.device.1", kHidden);
  AddLevelHead(layout, "priority");
  AddLevelHead(layout, "fusion");
  return layout;
}

}  // namespace

std::vector<std::pair<std::string, std::vector<std::int64_t>>> GoShapes() { return Layout().Shapes(); }

Weights InitialGoWeights(Random& random) {
  Weights weights = Layout().Start("sage", random);
  StartStrengths(weights, "place", kPlaceStartStrengths);
  StartStrengths(weights, "priority", kLevelStartStrengths);
  StartStrengths(weights, "fusion", kLevelStartStrengths);
  return weights;
}

Weights InitialGoMoveWeights(Random& random) {
  Weights weights = InitialGoWeights(random);
  StartStrengths(weights, "place", kMoveStartStrengths);
  return weights;
}

}  // namespace millrace
