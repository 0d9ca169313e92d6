// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/policy/step_heads.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "millrace/gflownet/environment/observation.h"

namespace millrace {
namespace {

struct Tables {
  std::shared_ptr<const StepHeads> heads;
  LaneArray group_first;         // by group x kHidden
  LaneArray no_more;             // kHidden zeros: the groups of a step share no part of the first layer
  LaneArray device_first;        // by device x kHidden
  LaneArray device_group_first;  // by group x kHidden
  LaneArray group_strengths, device_strengths;
  float group_ahead = 0, device_ahead = 0;  // strengths of the outlook's prior
};

class PreparedHeads final : public PreparedPolicy {
 public:
  explicit PreparedHeads(std::shared_ptr<const Tables> tables) : tables_(std::move(tables)) {}

  bool LooksAhead() const override { return tables_->heads->group().looks_ahead(); }

  void ScoreGroups(const State&, const Observation& observation, std::span<float> logits) override {
    ChoicesToScore choices{observation.choices,         observation.features.data(), observation.priors.data(),
                           tables_->group_first.data(), tables_->no_more.data(),     tables_->group_strengths.data()};
    LookAhead(observation, tables_->group_ahead, choices);
    tables_->heads->group().Score(choices, logits);
  }

  void ScoreDevices(const State&, int group, const Observation& observation, std::span<float> logits) override {
    const float* shared = tables_->device_group_first.data() + static_cast<std::size_t>(group) * kHidden;
    ChoicesToScore choices{observation.choices,
                           observation.features.data(),
                           observation.priors.data(),
                           tables_->device_first.data(),
                           shared,
                           tables_->device_strengths.data()};
    LookAhead(observation, tables_->device_ahead, choices);
    tables_->heads->device().Score(choices, logits);
  }

  std::unique_ptr<PreparedPolicy> Clone() const override { return std::make_unique<PreparedHeads>(tables_); }

 private:
  void LookAhead(const Observation& observation, float strength, ChoicesToScore& choices) const {
    if (!LooksAhead() || observation.outlook.empty()) return;
    choices.ahead = observation.outlook.data();
    choices.ahead_strength = strength;
  }

  std::shared_ptr<const Tables> tables_;
};

}  // namespace

ConditionNetwork::ConditionNetwork(const Weights& weights)
    : first_(weights, "condition.0", 1 + kGlobalFeatures, kCondition, LinearLayer::Bias::kOwn),
      second_(weights, "condition.1", kCondition, kCondition, LinearLayer::Bias::kOwn) {}

LaneArray ConditionNetwork::Of(const GraphFeatures& graph, double temperature) const {
  LaneArray known(1 + kGlobalFeatures), between(kCondition), condition(kCondition);
  known.data()[0] = static_cast<float>(std::log(temperature));
  std::copy(graph.global.begin(), graph.global.end(), known.data() + 1);
  first_.Apply(known.data(), 1, LinearLayer::Then::kRelu, between.data());
  second_.Apply(between.data(), 1, LinearLayer::Then::kRelu, condition.data());
  return condition;
}

StepHeads::Head::Head(const Weights& weights, const std::string& name)
    : embed(weights, name + ".embed", kWidth, kHidden, LinearLayer::Bias::kOwn),
      condition(weights, name + ".condition", kCondition, kHidden, LinearLayer::Bias::kNone),
      choice(weights, name),
      strength(weights, name) {
  if (choice.looks_ahead()) ahead.emplace(weights, name + ".ahead", 1);
}

LaneArray StepHeads::Head::FirstByGroup(const LaneArray& embeddings, std::size_t groups,
                                        const LaneArray& condition_of) const {
  LaneArray first(groups * kHidden), conditioned(kHidden);
  embed.Apply(embeddings.data(), groups, LinearLayer::Then::kNothing, first.data());
  condition.Apply(condition_of.data(), 1, LinearLayer::Then::kNothing, conditioned.data());
  for (std::size_t at = 0; at < groups * kHidden; ++at) first.data()[at] += conditioned.data()[at % kHidden];
  return first;
}

StepHeads::StepHeads(const Weights& weights)
    : group_(weights, "group"),
      device_(weights, "device"),
      device_first_(weights, "device.device.0", kDeviceFeatures, kHidden, LinearLayer::Bias::kOwn),
      device_second_(weights, "device.device.1", kHidden, kHidden, LinearLayer::Bias::kOwn) {}

std::unique_ptr<PreparedPolicy> StepHeads::Prepare(std::shared_ptr<const StepHeads> heads, const GraphFeatures& graph,
                                                   const LaneArray& embeddings, const LaneArray& condition) {
  const auto groups = static_cast<std::size_t>(graph.num_groups);
  const auto devices = static_cast<std::size_t>(graph.num_devices);
  auto tables = std::make_shared<Tables>();
  tables->group_first = heads->group_.FirstByGroup(embeddings, groups, condition);
  tables->no_more = LaneArray(kHidden);
  tables->device_group_first = heads->device_.FirstByGroup(embeddings, groups, condition);
  tables->group_strengths = heads->group_.strength.Of(condition);
  tables->device_strengths = heads->device_.strength.Of(condition);
  if (heads->group_.ahead) tables->group_ahead = heads->group_.ahead->Of(condition).data()[0];
  if (heads->device_.ahead) tables->device_ahead = heads->device_.ahead->Of(condition).data()[0];
  LaneArray between(devices * kHidden);
  tables->device_first = LaneArray(devices * kHidden);
  heads->device_first_.Apply(graph.devices.data(), devices, LinearLayer::Then::kRelu, between.data());
  heads->device_second_.Apply(between.data(), devices, LinearLayer::Then::kNothing, tables->device_first.data());
  tables->heads = std::move(heads);
  return std::make_unique<PreparedHeads>(std::move(tables));
}

}  // namespace millrace
