// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>

#include "millrace/env/environment.h"
#include "millrace/env/observation.h"
#include "millrace/env/state.h"

// The forward policy P_F of a sampler, in two stages per step: which ready group, then which device for it.
// P_F(group, device | state) = softmax of the group logits x softmax of the device logits. And the backward policy P_B
// it was trained with: which group was placed last.
namespace millrace {

// A policy made ready for one environment and one reward temperature: what does not change from step to step is worked
// out. One object serves one thread.
class PreparedPolicy {
 public:
  virtual ~PreparedPolicy() = default;

  // A logit for each choice of ObserveGroups(state); logits.size() == observation.size(). Finite.
  virtual void ScoreGroups(const State& state, const Observation& observation, std::span<float> logits) = 0;

  // Likewise for ObserveDevices(state, group).
  virtual void ScoreDevices(const State& state, int group, const Observation& observation, std::span<float> logits) = 0;

  // P_B, where the policy has one of its own: a logit for each of state.removable(), of which there is at least one;
  // finite. False where it has none: P_B is then uniform, and the logits are left alone.
  virtual bool ScoreRemovals(const State& /*state*/, std::span<float> /*logits*/) { return false; }

  // The same policy for another thread; what is immutable is shared.
  virtual std::unique_ptr<PreparedPolicy> Clone() const = 0;
};

// Immutable and shared between threads.
class Policy {
 public:
  virtual ~Policy() = default;

  virtual std::string name() const = 0;

  // `environment` must outlive what is returned. Reward temperature > 0, else InvalidInput. Throws InvalidInput where
  // the graph is too large for the encoder, saying the limit.
  virtual std::unique_ptr<PreparedPolicy> Prepare(const Environment& environment, double temperature) const = 0;
};

// Throws InvalidInput unless it is finite and > 0.
void CheckTemperature(double temperature);

// The stand-in: all logits 0.
std::unique_ptr<Policy> MakeUniformPolicy();

}  // namespace millrace
