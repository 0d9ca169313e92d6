// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/sampling/remembered_policy.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "millrace/gflownet/environment/observer.h"
#include "millrace/gflownet/environment/state_key.h"

namespace millrace {
namespace {

class RememberedPolicy final : public PreparedPolicy {
 public:
  explicit RememberedPolicy(std::unique_ptr<PreparedPolicy> policy) : policy_(std::move(policy)) {}

  bool LooksAhead() const override { return policy_->LooksAhead(); }

  void ScoreGroups(const State& state, const Observation& observation, std::span<float> logits) override {
    const auto [entry, first] = known_.try_emplace(KeyOf(state));
    Scores& scores = entry->second;
    if (first) {
      scores.groups.resize(observation.size());
      policy_->ScoreGroups(state, observation, scores.groups);
      if (!observer_) observer_.emplace(state.environment(), LooksAhead());
      observer_->See(state);
      for (const std::int32_t group : observation.choices) {
        observer_->Devices(group, devices_);
        std::vector<float>& of_group = scores.devices[group];
        of_group.resize(devices_.size());
        policy_->ScoreDevices(state, group, devices_, of_group);
      }
    }
    std::copy(scores.groups.begin(), scores.groups.end(), logits.begin());
  }

  void ScoreDevices(const State& state, int group, const Observation& observation, std::span<float> logits) override {
    const auto known = known_.find(KeyOf(state));
    if (known != known_.end()) {
      const auto scores = known->second.devices.find(group);
      if (scores != known->second.devices.end()) {
        std::copy(scores->second.begin(), scores->second.end(), logits.begin());
        return;
      }
    }
    policy_->ScoreDevices(state, group, observation, logits);
  }

  // The order of removable groups depends on how a state was built, so scores are kept by group.
  bool ScoreRemovals(const State& state, std::span<float> logits) override {
    if (!removing_) return false;
    const auto [entry, first] = removals_.try_emplace(KeyOf(state));
    if (first) {
      removing_ = policy_->ScoreRemovals(state, logits);
      for (std::size_t i = 0; i < logits.size(); ++i) entry->second[state.removable()[i]] = logits[i];
    } else {
      for (std::size_t i = 0; i < logits.size(); ++i) logits[i] = entry->second.at(state.removable()[i]);
    }
    return removing_;
  }

  std::unique_ptr<PreparedPolicy> Clone() const override { return Remembering(*policy_); }

 private:
  struct Scores {
    std::vector<float> groups;
    std::map<std::int32_t, std::vector<float>> devices;  // by group
  };

  std::unique_ptr<PreparedPolicy> policy_;
  std::map<StateKey, Scores> known_;
  std::map<StateKey, std::map<std::int32_t, float>> removals_;
  bool removing_ = true;              // until the policy says that it has no P_B of its own
  std::optional<Observer> observer_;  // of the environment that the policy is prepared for
  Observation devices_;
};

}  // namespace

std::unique_ptr<PreparedPolicy> Remembering(const PreparedPolicy& policy) {
  return std::make_unique<RememberedPolicy>(policy.Clone());
}

}  // namespace millrace
