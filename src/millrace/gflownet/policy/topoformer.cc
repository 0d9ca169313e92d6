// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/policy/topoformer.h"

#include "millrace/errors/errors.h"
#include "millrace/errors/shown.h"
#include "millrace/gflownet/environment/graph_features.h"
#include "millrace/gflownet/policy/message_passing.h"
#include "millrace/gflownet/policy/state_policy.h"
#include "millrace/gflownet/policy/step_heads.h"
#include "millrace/gflownet/policy/topoformer_encoder.h"
#include "millrace/network/network_layout.h"

namespace millrace {
namespace {

class GraphTopoformer final : public Policy {
 public:
  explicit GraphTopoformer(const Weights& weights)
      : condition_(weights),
        input_(weights, "input", kNodeFeatures, kWidth, LinearLayer::Bias::kOwn),
        encoder_(weights, kRelations),
        heads_(std::make_shared<StepHeads>(weights)) {}

  std::string name() const override { return "topoformer"; }

  std::unique_ptr<PreparedPolicy> Prepare(const Environment& environment, double temperature) const override {
    CheckTemperature(temperature);
    CheckGroupsForTopoformer(environment.num_groups());
    const GraphFeatures graph = MakeGraphFeatures(environment);
    const std::vector<Relation> relations = GroupRelations(environment.costed());
    const LaneArray condition = condition_.Of(graph, temperature);
    const auto groups = static_cast<std::size_t>(graph.num_groups);
    LaneArray rows(groups * kWidth);
    input_.Apply(graph.nodes.data(), groups, LinearLayer::Then::kRelu, rows.data());
    TopoformerEncoder::Workspace workspace(encoder_, graph.num_groups);
    encoder_.Encode(AttentionPairs(graph, relations), condition, workspace, rows);
    return StepHeads::Prepare(heads_, graph, rows, condition);
  }

 private:
  ConditionNetwork condition_;
  LinearLayer input_;
  TopoformerEncoder encoder_;
  std::shared_ptr<const StepHeads> heads_;
};

}  // namespace

void CheckGroupsForTopoformer(int groups) {
  if (groups <= kMostTopoformerGroups) return;
  throw InvalidInput("the graph has " + std::to_string(groups) + " groups, and the topoformer encoder takes at most " +
                     std::to_string(kMostTopoformerGroups) + "; use weights of the architecture 'mpnn'");
}

std::unique_ptr<Policy> MakeTopoformerPolicy(const Weights& weights) {
  CheckArchitecture(weights, "topoformer");
  const std::string& encodes = StatedBy(weights, "encodes");
  if (encodes == "graph") return std::make_unique<GraphTopoformer>(weights);
  if (encodes == "state") return MakeStateTopoformer(weights);
  throw InvalidInput("these weights say that they encode '" + Shown(encodes) + "'; 'graph' or 'state' is known here");
}

}  // namespace millrace
