// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/policy/message_passing.h"

#include "millrace/gflownet/environment/graph_features.h"
#include "millrace/gflownet/policy/message_passing_encoder.h"
#include "millrace/gflownet/policy/step_heads.h"
#include "millrace/network/network_layout.h"

namespace millrace {
namespace {

class MessagePassingPolicy final : public Policy {
 public:
  explicit MessagePassingPolicy(const Weights& weights)
      : condition_(weights), encoder_(weights), heads_(std::make_shared<StepHeads>(weights)) {}

  std::string name() const override { return "mpnn"; }

  std::unique_ptr<PreparedPolicy> Prepare(const Environment& environment, double temperature) const override {
    CheckTemperature(temperature);
    const GraphFeatures graph = MakeGraphFeatures(environment);
    const LaneArray condition = condition_.Of(graph, temperature);
    return StepHeads::Prepare(heads_, graph, encoder_.Encode(graph, condition), condition);
  }

 private:
  ConditionNetwork condition_;
  MessagePassingEncoder encoder_;
  std::shared_ptr<const StepHeads> heads_;
};

}  // namespace

std::unique_ptr<Policy> MakeMessagePassingPolicy(const Weights& weights) {
  CheckArchitecture(weights, "mpnn");
  return std::make_unique<MessagePassingPolicy>(weights);
}

}  // namespace millrace
