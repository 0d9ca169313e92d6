// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "millrace/env/observation.h"
#include "millrace/policy/message_passing.h"
#include "millrace/policy/state_features.h"
#include "millrace/policy/topoformer.h"
#include "millrace/train/network.h"
#include "millrace/train/state_steps.h"

// policy/topoformer.h, "state", in libtorch. The states of one problem have equally many groups, so they go through
// the layers as one dense batch; every relation is a head with its own mask.
namespace millrace {
namespace {

constexpr std::int64_t kHeads = kRelations + kChainRelations;
constexpr double kMasked = -1e30;
constexpr double kNormEpsilon = 1e-5;

class StatePass {
 public:
  StatePass(const Parameters& parameters, const Replay& replay, torch::Device device)
      : parameters_(parameters),
        replay_(replay),
        states_(*replay.states),
        device_(device),
        groups_(replay.graph->num_groups),
        devices_(replay.graph->num_devices),
        steps_(replay.states->steps) {}

  ChoiceOutputs groups, devices;  // once run

  void Run() {
    std::vector<float> inputs = {static_cast<float>(std::log(replay_.temperature))};
    inputs.insert(inputs.end(), replay_.graph->global.begin(), replay_.graph->global.end());
    const torch::Tensor condition = torch::relu(
        Layer("condition.1", torch::relu(Layer("condition.0", Floats(inputs, kGlobalFeatures + 1, device_)))));
    const torch::Tensor place = torch::relu(Layer(
        "place.1", torch::relu(Layer("place.0", Floats(states_.device_features, kDeviceFeatures + kStateDeviceFeatures,
                                                       device_)))));  // steps * devices x kHidden
    torch::Tensor h = FirstRows(place);
    MakeMasks();
    for (int l = 0; l < kTopoformerLayers; ++l) h = ThroughLayer("layer." + std::to_string(l), h, condition);
    Choose(Norm("norm", h), place, condition);
  }

 private:
  torch::Tensor Layer(const std::string& name, const torch::Tensor& x) const { return Linear(parameters_, name, x); }

  torch::Tensor Norm(const std::string& name, const torch::Tensor& x) const {
    return torch::layer_norm(x, {x.size(1)}, parameters_.at(name + ".weight"), parameters_.at(name + ".bias"),
                             kNormEpsilon);
  }

  // steps * groups x kWidth.
  torch::Tensor FirstRows(const torch::Tensor& place) const {
    const torch::Tensor known = Layer("input", Floats(replay_.graph->nodes, kNodeFeatures, device_));
    const torch::Tensor of_state = Layer("input.state", Floats(states_.group_features, kStateGroupFeatures, device_));
    // One row more per step, of zeros, for groups that are not placed.
    const torch::Tensor of_place = torch::cat({Layer("input.place", place).view({steps_, devices_, kWidth}),
                                               torch::zeros({steps_, 1, kWidth}, place.options())},
                                              1);
    const torch::Tensor placement = Indices(states_.placement, device_).view({steps_, groups_, 1});
    const torch::Tensor there = of_place.gather(1, placement.expand({steps_, groups_, kWidth}));
    return torch::relu(known.unsqueeze(0) + of_state.view({steps_, groups_, kWidth}) + there)
        .view({steps_ * groups_, kWidth});
  }

  void MakeMasks() {
    const torch::Tensor relations = Indices(states_.relations, device_).view({1, 1, groups_, groups_});
    const torch::Tensor heads = torch::arange(kRelations, relations.options()).view({1, kRelations, 1, 1});
    torch::Tensor before = torch::zeros({steps_ * groups_ * groups_}, torch::kBool).to(device_);
    before.index_fill_(0, Indices(states_.chained, device_), 1);
    before = before.view({steps_, 1, groups_, groups_});
    mask_ = torch::cat(
        {relations.eq(heads).expand({steps_, kRelations, groups_, groups_}), before, before.transpose(2, 3)}, 1);
    edges_ = Floats(states_.edges, groups_ * groups_, device_).view({1, groups_, groups_});
  }

  torch::Tensor ThroughLayer(const std::string& name, torch::Tensor h, const torch::Tensor& condition) const {
    const torch::Tensor normed = Norm(name + ".norm.0", h);
    const auto heads = [&](const char* part) {
      return Layer(name + part, normed).view({steps_, groups_, kHeads, kAttention}).permute({0, 2, 1, 3});
    };
    const torch::Tensor products =
        heads(".query").matmul(heads(".key").transpose(2, 3)) / std::sqrt(static_cast<double>(kAttention));
    const torch::Tensor edge_weights = torch::cat(
        {parameters_.at(name + ".edge.weight"), torch::zeros({kHeads - kDirectRelations}, products.options())});
    const torch::Tensor scores =
        (products + edge_weights.view({kHeads, 1, 1}) * edges_).masked_fill(mask_.logical_not(), kMasked);
    // Where a group has nobody in a relation, every score is masked: its shares are taken out again.
    const torch::Tensor shares = torch::softmax(scores, 3) * mask_;
    const torch::Tensor mixed =
        shares.matmul(heads(".value")).permute({0, 2, 1, 3}).reshape({steps_ * groups_, kHeads * kAttention});
    h = h + Layer(name + ".join", mixed);
    const torch::Tensor z = Layer(name + ".first", Norm(name + ".norm.1", h));
    return h + Layer(name + ".out",
                     torch::relu(z * (1 + Layer(name + ".scale", condition)) + Layer(name + ".shift", condition)));
  }

  void Choose(const torch::Tensor& h, const torch::Tensor& place, const torch::Tensor& condition) {
    const torch::Tensor first =
        Layer("joint.embed", h).index_select(0, Indices(states_.choice_group, device_)) +
        Layer("joint.place", place).index_select(0, Indices(states_.choice_device, device_)) +
        Layer("joint.condition", condition) +
        Layer("joint.features", Floats(states_.choice_features, kDeviceChoiceFeatures, device_));
    const torch::Tensor joint =
        Layer("joint.out", torch::relu(Layer("joint.hidden", torch::relu(first)))).squeeze(1) +
        (Strengths(parameters_, "joint", condition) * Floats(states_.choice_priors, kDeviceChoicePriors, device_))
            .sum(1);
    const auto ready = static_cast<std::int64_t>(states_.ready_step.size());
    const torch::Tensor by_ready = LogSumExpBy(Indices(states_.choice_ready, device_), joint, ready);
    const torch::Tensor group_logits =
        by_ready +
        (Strengths(parameters_, "group", condition) * Floats(states_.ready_priors, kGroupPriors, device_)).sum(1);
    const torch::Tensor by_step = LogSumExpBy(Indices(states_.ready_step, device_), group_logits, steps_);
    const torch::Tensor taken = Indices(states_.taken_ready, device_);
    groups.log_probability = group_logits.index_select(0, taken) - by_step;
    devices.log_probability =
        joint.index_select(0, Indices(states_.taken_choice, device_)) - by_ready.index_select(0, taken);
  }

  const Parameters& parameters_;
  const Replay& replay_;
  const StateSteps& states_;
  torch::Device device_;
  std::int64_t groups_, devices_, steps_;
  torch::Tensor mask_;   // steps x kHeads x groups x groups
  torch::Tensor edges_;  // 1 x groups x groups
};

}  // namespace

NetworkOutputs RunStateNetwork(const Parameters& parameters, const std::vector<Replay>& replays, torch::Device device) {
  std::vector<torch::Tensor> groups, devices;
  for (const Replay& replay : replays) {
    StatePass pass(parameters, replay, device);
    pass.Run();
    groups.push_back(pass.groups.log_probability);
    devices.push_back(pass.devices.log_probability);
  }
  NetworkOutputs outputs;
  outputs.groups.log_probability = torch::cat(groups);
  outputs.devices.log_probability = torch::cat(devices);
  return outputs;
}

}  // namespace millrace
