// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>

#include "millrace/gflownet/environment/environment.h"
#include "millrace/gflownet/environment/observation.h"
#include "millrace/gflownet/environment/state.h"

// The forward policy P_F of a sampler chooses in two stages per step: a ready group, then a device for it.
//   P_F(group, device | state) = softmax of the group logits x softmax of the device logits
// The backward policy P_B that it is trained with chooses the group that was placed last.
namespace millrace {

// A policy made ready for one environment and one reward temperature. It has computed what is the same in every step.
// One object serves one thread.
class PreparedPolicy {
 public:
  virtual ~PreparedPolicy() = default;

  // Whether observations need an outlook (environment/observer.h).
  virtual bool LooksAhead() const { return false; }

  // A logit for each choice of ObserveGroups(state); logits.size() == observation.size(). Finite.
  virtual void ScoreGroups(const State& state, const Observation& observation, std::span<float> logits) = 0;

  // The same for ObserveDevices(state, group).
  virtual void ScoreDevices(const State& state, int group, const Observation& observation, std::span<float> logits) = 0;

  // P_B, if the policy has one of its own: a finite logit for each of state.removable(), of which there is at least
  // one. Returns false and leaves the logits alone if it has none; P_B is then uniform.
  virtual bool ScoreRemovals(const State& /*state*/, std::span<float> /*logits*/) { return false; }

  // The same policy for another thread. Both share what is immutable.
  virtual std::unique_ptr<PreparedPolicy> Clone() const = 0;
};

// Immutable, so threads may share it.
class Policy {
 public:
  virtual ~Policy() = default;

  virtual std::string name() const = 0;

  // `environment` must outlive the returned policy. `temperature` is the reward temperature. Throws InvalidInput unless
  // it is finite and > 0, and where the graph is too large for the encoder, naming the limit.
  virtual std::unique_ptr<PreparedPolicy> Prepare(const Environment& environment, double temperature) const = 0;
};

// Throws InvalidInput unless the reward temperature is finite and > 0.
void CheckTemperature(double temperature);

// All logits are 0.
std::unique_ptr<Policy> MakeUniformPolicy();

}  // namespace millrace
