// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/policy/state_policy.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "millrace/gflownet/environment/graph_features.h"
#include "millrace/gflownet/policy/completions.h"
#include "millrace/gflownet/policy/message_passing.h"
#include "millrace/gflownet/policy/step_heads.h"
#include "millrace/gflownet/policy/topoformer.h"
#include "millrace/gflownet/policy/topoformer_encoder.h"

namespace millrace {
namespace {

using Bias = LinearLayer::Bias;
using Then = LinearLayer::Then;

// The head that scores removable groups.
struct BackwardHead {
  explicit BackwardHead(const Weights& weights)
      : embed(weights, "backward.embed", kWidth, kHidden, Bias::kOwn),
        condition(weights, "backward.condition", kCondition, kHidden, Bias::kNone),
        place(weights, "backward.place", kHidden, kHidden, Bias::kNone),
        hidden(weights, "backward.hidden", kHidden, kHidden, Bias::kOwn),
        out(weights.Get("backward.out.weight", {1, kHidden}).values) {}

  LinearLayer embed, condition, place, hidden;
  std::vector<float> out;
};

struct Network {
  explicit Network(const Weights& weights)
      : condition(weights),
        input(weights, "input", kNodeFeatures, kWidth, Bias::kOwn),
        input_state(weights, "input.state", kStateGroupFeatures, kWidth, Bias::kNone),
        input_place(weights, "input.place", kHidden, kWidth, Bias::kNone),
        place_first(weights, "place.0", kDeviceFeatures + kStateDeviceFeatures, kHidden, Bias::kOwn),
        place_second(weights, "place.1", kHidden, kHidden, Bias::kOwn),
        encoder(weights, kRelations + kChainRelations),
        joint(weights, "joint"),
        joint_embed(weights, "joint.embed", kWidth, kHidden, Bias::kOwn),
        joint_condition(weights, "joint.condition", kCondition, kHidden, Bias::kNone),
        joint_place(weights, "joint.place", kHidden, kHidden, Bias::kNone),
        joint_gain(weights, "joint.gain", kCondition, kHidden, Bias::kNone),
        joint_completions(weights, "joint.completions", kCompletions, kHidden, Bias::kNone),
        joint_strength(weights, "joint"),
        group_strength(weights, "group"),
        completion_strength(weights, "completion", kCompletions) {
    if (BackwardOf(weights) == Backward::kLearned) backward.emplace(weights);
  }

  ConditionNetwork condition;
  LinearLayer input, input_state, input_place, place_first, place_second;
  TopoformerEncoder encoder;
  ChoiceHead joint;
  LinearLayer joint_embed, joint_condition, joint_place, joint_gain, joint_completions;
  StrengthLayer joint_strength, group_strength, completion_strength;
  std::optional<BackwardHead> backward;
};

// What is the same in every step.
struct Known {
  Known(std::shared_ptr<const Network> of, const Environment& environment, double reward_temperature)
      : network(std::move(of)),
        temperature(reward_temperature),
        graph(MakeGraphFeatures(environment)),
        relations(GroupRelations(environment.costed())),
        condition(network->condition.Of(graph, temperature)),
        input(static_cast<std::size_t>(graph.num_groups) * kWidth),
        joint_condition(kHidden),
        joint_gains(kHidden),
        joint_strengths(network->joint_strength.Of(condition)),
        group_strengths(network->group_strength.Of(condition)),
        completion_strengths(network->completion_strength.Of(condition)) {
    for (int m = 0; m < kCompletions; ++m)
      completion_strengths.data()[m] *= static_cast<float>(environment.num_groups() / temperature);
    network->input.Apply(graph.nodes.data(), static_cast<std::size_t>(graph.num_groups), Then::kNothing, input.data());
    network->joint_condition.Apply(condition.data(), 1, Then::kNothing, joint_condition.data());
    network->joint_gain.Apply(condition.data(), 1, Then::kNothing, joint_gains.data());
    for (std::size_t i = 0; i < kHidden; ++i)
      joint_gains.data()[i] = std::exp(std::clamp(joint_gains.data()[i], -8.0f, 8.0f));
  }

  std::shared_ptr<const Network> network;
  double temperature;  // of the reward
  GraphFeatures graph;
  std::vector<Relation> relations;
  LaneArray condition;
  LaneArray input;            // by group x kWidth: input N
  LaneArray joint_condition;  // kHidden
  LaneArray joint_gains;      // kHidden
  LaneArray joint_strengths, group_strengths;
  LaneArray completion_strengths;  // times n / T
};

class PreparedState final : public PreparedPolicy {
 public:
  PreparedState(std::shared_ptr<const Known> known, const Environment& environment)
      : known_(std::move(known)),
        environment_(environment),
        completer_(environment, known_->temperature),
        pairs_(known_->graph, known_->relations),
        workspace_(known_->network->encoder, known_->graph.num_groups),
        rows_(Groups() * kWidth),
        from_state_(Groups() * kWidth),
        device_known_(Devices() * (kDeviceFeatures + kStateDeviceFeatures)),
        place_between_(Devices() * kHidden),
        place_(Devices() * kHidden),
        from_place_(Devices() * kWidth),
        joint_place_(Devices() * kHidden),
        joint_shared_(kHidden),
        joint_first_(Devices() * kHidden),
        joint_completion_(kHidden),
        removal_condition_(kHidden),
        removal_place_(Devices() * kHidden),
        removal_first_(kHidden),
        removal_hidden_(kHidden) {}

  void ScoreGroups(const State& state, const Observation& observation, std::span<float> logits) override {
    Encode(state);
    for (std::size_t i = 0; i < observation.size(); ++i) {
      const std::int32_t group = observation.choices[i];
      ObserveDevices(state, group, devices_);
      joint_.resize(devices_.size());
      ScoreJointly(state, group, devices_, joint_);
      const float most = *std::max_element(joint_.begin(), joint_.end());
      float sum = 0;
      for (const float logit : joint_) sum += std::exp(logit - most);
      const float* priors = observation.priors.data() + i * kGroupPriors;
      logits[i] = BoundedLogit(most + std::log(sum) + PriorScore(priors, known_->group_strengths.data()));
    }
  }

  void ScoreDevices(const State& state, int group, const Observation& observation, std::span<float> logits) override {
    Encode(state);
    ScoreJointly(state, group, observation, logits);
  }

  bool ScoreRemovals(const State& state, std::span<float> logits) override {
    if (!known_->network->backward) return false;
    const BackwardHead& head = *known_->network->backward;
    Encode(state);
    head.condition.Apply(known_->condition.data(), 1, Then::kNothing, removal_condition_.data());
    head.place.Apply(place_.data(), Devices(), Then::kNothing, removal_place_.data());
    for (std::size_t i = 0; i < logits.size(); ++i) {
      const auto group = static_cast<std::size_t>(state.removable()[i]);
      const float* place =
          removal_place_.data() + static_cast<std::size_t>(state.assignment().placement[group]) * kHidden;
      float* const first = removal_first_.data();
      head.embed.Apply(rows_.data() + group * kWidth, 1, Then::kNothing, first);
      for (std::size_t k = 0; k < kHidden; ++k)
        first[k] = std::max(first[k] + removal_condition_.data()[k] + place[k], 0.0f);
      head.hidden.Apply(first, 1, Then::kRelu, removal_hidden_.data());
      float logit = 0;
      for (std::size_t k = 0; k < kHidden; ++k) logit += head.out[k] * removal_hidden_.data()[k];
      logits[i] = BoundedLogit(logit);
    }
    return true;
  }

  std::unique_ptr<PreparedPolicy> Clone() const override {
    return std::make_unique<PreparedState>(known_, environment_);
  }

 private:
  std::size_t Groups() const { return static_cast<std::size_t>(known_->graph.num_groups); }
  std::size_t Devices() const { return static_cast<std::size_t>(known_->graph.num_devices); }

  // Embeds the groups of a state. Does nothing if this state was the last one: a step asks twice, for its groups and
  // for its devices.
  void Encode(const State& state) {
    if (encoded_ && state.assignment().placement == last_.placement && state.assignment().sequence == last_.sequence)
      return;
    encoded_ = false;
    const Network& network = *known_->network;
    MakeStateFeatures(state, features_);
    EncodePlaces(network);
    network.input_state.Apply(features_.groups.data(), Groups(), Then::kNothing, from_state_.data());
    for (std::size_t group = 0; group < Groups(); ++group) {
      const std::int32_t device = state.assignment().placement[group];
      const float* place = device < 0 ? nullptr : from_place_.data() + static_cast<std::size_t>(device) * kWidth;
      for (std::size_t i = group * kWidth, j = 0; j < kWidth; ++i, ++j) {
        const float sum = known_->input.data()[i] + from_state_.data()[i] + (place == nullptr ? 0.0f : place[j]);
        rows_.data()[i] = std::max(sum, 0.0f);
      }
    }
    pairs_.SetLinks(features_.links);
    network.encoder.Encode(pairs_, known_->condition, workspace_, rows_);
    last_ = state.assignment();
    encoded_ = true;
  }

  void EncodePlaces(const Network& network) {
    float* known = device_known_.data();
    for (std::size_t d = 0; d < Devices(); ++d) {
      known = std::copy_n(known_->graph.devices.data() + d * kDeviceFeatures, kDeviceFeatures, known);
      known = std::copy_n(features_.devices.data() + d * kStateDeviceFeatures, kStateDeviceFeatures, known);
    }
    network.place_first.Apply(device_known_.data(), Devices(), Then::kRelu, place_between_.data());
    network.place_second.Apply(place_between_.data(), Devices(), Then::kRelu, place_.data());
    network.input_place.Apply(place_.data(), Devices(), Then::kNothing, from_place_.data());
    network.joint_place.Apply(place_.data(), Devices(), Then::kNothing, joint_place_.data());
  }

  void ScoreJointly(const State& state, int group, const Observation& devices, std::span<float> logits) {
    completions_.clear();
    completer_.Append(state, group, devices.choices, completions_);
    for (std::size_t i = 0; i < devices.size(); ++i) {
      const std::size_t at = static_cast<std::size_t>(devices.choices[i]) * kHidden;
      known_->network->joint_completions.Apply(completions_.data() + i * kCompletions, 1, Then::kNothing,
                                               joint_completion_.data());
      for (std::size_t k = 0; k < kHidden; ++k)
        joint_first_.data()[at + k] = joint_place_.data()[at + k] + joint_completion_.data()[k];
    }
    const float* embedding = rows_.data() + static_cast<std::size_t>(group) * kWidth;
    known_->network->joint_embed.Apply(embedding, 1, Then::kNothing, joint_shared_.data());
    for (std::size_t i = 0; i < kHidden; ++i) joint_shared_.data()[i] += known_->joint_condition.data()[i];
    known_->network->joint.Score({devices.choices, devices.features.data(), devices.priors.data(), joint_first_.data(),
                                  joint_shared_.data(), known_->joint_strengths.data(), known_->joint_gains.data()},
                                 logits);
    for (std::size_t i = 0; i < logits.size(); ++i) {
      for (std::size_t m = 0; m < kCompletions; ++m)
        logits[i] += known_->completion_strengths.data()[m] * completions_[i * kCompletions + m];
      logits[i] = BoundedLogit(logits[i]);
    }
  }

  std::shared_ptr<const Known> known_;
  const Environment& environment_;
  Completions completer_;
  AttentionPairs pairs_;
  TopoformerEncoder::Workspace workspace_;
  StateFeatures features_;
  LaneArray rows_, from_state_, device_known_, place_between_, place_, from_place_, joint_place_, joint_shared_;
  LaneArray joint_first_, joint_completion_;
  LaneArray removal_condition_, removal_place_, removal_first_, removal_hidden_;
  Observation devices_;
  std::vector<float> joint_, completions_;
  Assignment last_;  // the state that rows_ are the embeddings of
  bool encoded_ = false;
};

class StateTopoformer final : public Policy {
 public:
  explicit StateTopoformer(const Weights& weights) : network_(std::make_shared<Network>(weights)) {}

  std::string name() const override { return "topoformer"; }

  std::unique_ptr<PreparedPolicy> Prepare(const Environment& environment, double temperature) const override {
    CheckTemperature(temperature);
    CheckGroupsForTopoformer(environment.num_groups());
    return std::make_unique<PreparedState>(std::make_shared<const Known>(network_, environment, temperature),
                                           environment);
  }

 private:
  std::shared_ptr<const Network> network_;
};

}  // namespace

std::unique_ptr<Policy> MakeStateTopoformer(const Weights& weights) {
  return std::make_unique<StateTopoformer>(weights);
}

}  // namespace millrace
