// SPDX-License-Identifier: Apache-2.0
#include <cstddef>

#include "millrace/train/gflownet/objective.h"

// The divergence of the policy from the exact flow (gflownet/sampling/exact_flow.h): the sum over the states that the
// flow comes by, times how often, of KL(flow || P_F). It is 0 where plans are drawn in proportion to the reward, and
// its gradient then is, too, state by state, which makes it steadier than a loss of whole trajectories. It needs the
// flow, so it is for graphs of a handful of ops.
namespace millrace {
namespace {

class ExactFlowDivergence : public Objective {
 public:
  std::string name() const override { return "exact_flow"; }
  bool wants_exact_flow() const override { return true; }

  Derivative Differentiate(const SampledTrajectories& sampled, const Predicted& predicted, double) const override {
    Derivative derivative;
    derivative.loss = -sampled.wanted_entropy;
    for (std::size_t i = 0; i < sampled.wanted.size(); ++i) {
      derivative.loss -= static_cast<double>(sampled.wanted[i]) * (predicted.groups[i] + predicted.devices[i]);
      derivative.groups.push_back(-sampled.wanted[i]);
    }
    derivative.devices = derivative.groups;
    return derivative;
  }
};

}  // namespace

std::unique_ptr<Objective> MakeExactFlowDivergence(const ObjectiveSettings&) {
  return std::make_unique<ExactFlowDivergence>();
}

}  // namespace millrace
