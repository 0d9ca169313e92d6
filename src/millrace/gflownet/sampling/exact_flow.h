// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "millrace/gflownet/environment/environment.h"
#include "millrace/gflownet/environment/reward.h"

// The flow of a GFlowNet, exactly, on graphs of a handful of groups: every state is visited once, and the flow through
// a state is the sum of the rewards of all plans beyond it, each times the chance that the uniform P_B takes the plan
// apart through that state. A policy that chooses in proportion to the flow of each step draws every plan with
// probability R / Z. It is what training looks for, and what it can be shown where it can be worked out.
//
// Source: Bengio et al., "Flow Network based Generative Models for Non-Iterative Diverse Candidate Generation", 2021.
namespace millrace {

// The states of one environment and the steps between them. State 0 is empty; a step leads to a state of a higher
// number; finished states come last.
struct StateGraph {
  struct Step {
    Action action;
    std::int32_t to = 0;
    double log_backward = 0;  // log P_B of taking it back
  };

  // Of a state: by ready group as State::ready has them, and for each by device, ascending. None of a finished one.
  std::span<const Step> StepsOf(std::int32_t state) const {
    const auto at = static_cast<std::size_t>(state);
    return std::span(steps).subspan(offsets[at], offsets[at + 1] - offsets[at]);
  }
  std::int32_t num_states() const { return static_cast<std::int32_t>(offsets.size()) - 1; }
  std::int32_t first_finished() const { return num_states() - static_cast<std::int32_t>(makespans.size()); }

  std::vector<Step> steps;
  std::vector<std::size_t> offsets{0};  // by state, one more
  std::vector<double> makespans;        // seconds, by finished state: those are the plans
};

// Nothing where there are more than `most_states`.
std::optional<StateGraph> MakeStateGraph(const Environment& environment, std::int64_t most_states);

// The logarithm of the flow through every state at a reward temperature, in nats; log Z is that of state 0. The log
// probability of a step of state s is log flow(to) + log_backward - log flow(s).
std::vector<double> LogFlows(const StateGraph& graph, const Environment& environment, double temperature,
                             RewardForm form = RewardForm::kSizeScaled);

}  // namespace millrace
