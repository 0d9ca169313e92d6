// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/environment/graph_features.h"
#include "millrace/gflownet/environment/observation.h"
#include "millrace/gflownet/policy/message_passing.h"
#include "millrace/network/network_layout.h"

namespace millrace {
namespace {

// What looking ahead adds.
NetworkLayout AheadLayout() {
  NetworkLayout layout;
  for (const std::string head : {"group", "device"}) {
    layout.AddZeroWeight(head + ".ahead", kHidden, kAheadFeatures);
    layout.AddZeroWeight(head + ".ahead.strength", 1, kCondition);
    layout.AddBias(head + ".ahead.strength", 1);
  }
  return layout;
}

NetworkLayout Layout() {
  NetworkLayout layout;
  layout.AddWeight("condition.0", kCondition, 1 + kGlobalFeatures, 1 + kGlobalFeatures);
  layout.AddBias("condition.0", kCondition);
  layout.AddWeight("condition.1", kCondition, kCondition, kCondition);
  layout.AddBias("condition.1", kCondition);
  layout.AddWeight("input", kWidth, kNodeFeatures, kNodeFeatures);
  layout.AddBias("input", kWidth);
  for (int r = 0; r < kRounds; ++r) {
    const std::string round = "round." + std::to_string(r);
    for (const std::string& direction : {round + ".forward", round + ".backward"}) {
      layout.AddWeight(direction, kMessage, kWidth, kWidth + 1);
      layout.AddBias(direction, kMessage);
      layout.AddWeight(direction + ".edge", kMessage, 1, kWidth + 1);
    }
    layout.AddWeight(round + ".mix", kWidth, kWidth + 4 * kMessage, kWidth + 4 * kMessage);
    layout.AddBias(round + ".mix", kWidth);
    layout.AddZeroWeight(round + ".scale", kWidth, kCondition);
    layout.AddZeroWeight(round + ".shift", kWidth, kCondition);
    layout.AddWeight(round + ".out", kWidth, kWidth, kWidth);
    layout.AddBias(round + ".out", kWidth);
  }
  layout.AddHead("group", kGroupFeatures, kGroupPriors, 0);
  layout.AddHead("device", kDeviceChoiceFeatures, kDeviceChoicePriors, kHidden);
  layout.AddWeight("device.device.0", kHidden, kDeviceFeatures, kDeviceFeatures);
  layout.AddBias("device.device.0", kHidden);
  layout.AddWeight("device.device.1", kHidden, kHidden, kWidth + kCondition + kDeviceChoiceFeatures + kHidden);
  layout.AddBias("device.device.1", kHidden);
  return layout;
}

}  // namespace

std::vector<std::pair<std::string, std::vector<std::int64_t>>> MessagePassingShapes(bool looks_ahead) {
  TensorShapes shapes = Layout().Shapes();
  if (looks_ahead) {
    const TensorShapes more = AheadLayout().Shapes();
    shapes.insert(shapes.end(), more.begin(), more.end());
  }
  return shapes;
}

Weights InitialMessagePassingWeights(Random& random) {
  Weights weights = Layout().Start("mpnn", random);
  StartStrengths(weights, "group", kGroupStartStrengths);
  StartStrengths(weights, "device", kDeviceStartStrengths);
  return weights;
}

bool LooksAhead(const Weights& weights) { return weights.tensors.contains("group.ahead.weight"); }

void LookAhead(Weights& weights) {
  if (LooksAhead(weights)) return;
  Random unused(0);  // all of it starts at 0
  weights.tensors.merge(AheadLayout().Start("mpnn", unused).tensors);
  for (const std::string head : {"group.ahead", "device.ahead"})
    StartStrengths(weights, head, std::array{kAheadStartStrength});
}

}  // namespace millrace
