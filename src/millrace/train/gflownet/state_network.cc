// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "millrace/gflownet/environment/observation.h"
#include "millrace/gflownet/policy/completions.h"
#include "millrace/gflownet/policy/message_passing.h"
#include "millrace/gflownet/policy/state_features.h"
#include "millrace/gflownet/policy/topoformer.h"
#include "millrace/train/gflownet/network.h"
#include "millrace/train/gflownet/state_steps.h"

// gflownet/policy/topoformer.h, "state", in libtorch. The states of one problem have equally many groups, so they go
// through the layers as one dense batch. Of two groups only the head of their one relation looks at them, which is the
// same in every state; neighbours on chains are listed state by state.
namespace millrace {
namespace {

constexpr std::int64_t kHeads = kRelations + kChainRelations;
constexpr double kNormEpsilon = 1e-5;

class StatePass {
 public:
  StatePass(const Parameters& parameters, const RecordedSteps& problem, torch::Device device)
      : parameters_(parameters),
        problem_(problem),
        states_(*problem.states),
        device_(device),
        groups_(problem.graph->num_groups),
        devices_(problem.graph->num_devices),
        count_(problem.states->states) {}

  ChoiceOutputs groups, devices, removals;  // once run

  void Run() {
    std::vector<float> inputs = {static_cast<float>(std::log(problem_.temperature))};
    inputs.insert(inputs.end(), problem_.graph->global.begin(), problem_.graph->global.end());
    const torch::Tensor condition = torch::relu(
        Layer("condition.1", torch::relu(Layer("condition.0", Floats(inputs, kGlobalFeatures + 1, device_)))));
    const torch::Tensor place = torch::relu(Layer(
        "place.1", torch::relu(Layer("place.0", Floats(states_.device_features, kDeviceFeatures + kStateDeviceFeatures,
                                                       device_)))));  // states * devices x kHidden
    torch::Tensor h = FirstRows(place);
    ListPairs();
    for (int l = 0; l < kTopoformerLayers; ++l) h = ThroughLayer("layer." + std::to_string(l), h, condition);
    h = Norm("norm", h);
    Choose(h, place, condition);
    if (parameters_.contains("backward.out.weight")) Remove(h, place, condition);
  }

 private:
  torch::Tensor Layer(const std::string& name, const torch::Tensor& x) const { return Linear(parameters_, name, x); }

  torch::Tensor Norm(const std::string& name, const torch::Tensor& x) const {
    return torch::layer_norm(x, {x.size(1)}, parameters_.at(name + ".weight"), parameters_.at(name + ".bias"),
                             kNormEpsilon);
  }

  // states * groups x kWidth.
  torch::Tensor FirstRows(const torch::Tensor& place) const {
    const torch::Tensor known = Layer("input", Floats(problem_.graph->nodes, kNodeFeatures, device_));
    const torch::Tensor of_state = Layer("input.state", Floats(states_.group_features, kStateGroupFeatures, device_));
    // One row more per state, of zeros, for groups that are not placed.
    const torch::Tensor of_place = torch::cat({Layer("input.place", place).view({count_, devices_, kWidth}),
                                               torch::zeros({count_, 1, kWidth}, place.options())},
                                              1);
    const torch::Tensor placement = Indices(states_.placement, device_).view({count_, groups_, 1});
    const torch::Tensor there = of_place.gather(1, placement.expand({count_, groups_, kWidth}));
    return torch::relu(known.unsqueeze(0) + of_state.view({count_, groups_, kWidth}) + there)
        .view({count_ * groups_, kWidth});
  }

  // Pairs of groups, by their numbers: of those to look from, and to.
  void ListPairs() {
    std::vector<std::int64_t> from, to, heads;
    for (std::int64_t i = 0; i < groups_; ++i) {
      for (std::int64_t j = 0; j < groups_; ++j) {
        const std::int64_t relation = states_.relations[static_cast<std::size_t>(i * groups_ + j)];
        heads.push_back(relation);
        from.push_back(i * kHeads + relation);
        to.push_back(j * kHeads + relation);
      }
    }
    pairs_ = {Indices(from, device_), Indices(to, device_)};
    heads_ = Indices(heads, device_);
    edges_ = Floats(states_.edges, groups_ * groups_, device_);
    // A neighbour looks both ways, by another head each.
    std::vector<std::int64_t> link_from, link_to;
    for (std::size_t link = 0; link < states_.linked.size(); ++link) {
      for (const std::int64_t head : {kRelations, kRelations + 1}) {
        const bool back = head == kRelations;
        link_from.push_back((back ? states_.linked : states_.linked_to)[link] * kHeads + head);
        link_to.push_back((back ? states_.linked_to : states_.linked)[link] * kHeads + head);
      }
    }
    links_ = {Indices(link_from, device_), Indices(link_to, device_)};
  }

  struct Pairs {
    torch::Tensor from, to;  // (group, head) that looks, and that is looked at
  };

  // The mean of the values looked at, by exp(scores), along dimension 1 of three. Zeros for who looks at none.
  static torch::Tensor Mix(const torch::Tensor& query, const torch::Tensor& key, const torch::Tensor& value,
                           const Pairs& pairs, const torch::Tensor& edges) {
    const torch::Tensor scores =
        (query.index_select(1, pairs.from) * key.index_select(1, pairs.to)).sum(2) / std::sqrt(double{kAttention}) +
        edges;
    const torch::Tensor bins = pairs.from.unsqueeze(0).expand_as(scores);
    const torch::Tensor none = torch::zeros({query.size(0), query.size(1)}, scores.options());
    const torch::Tensor most =
        (none - std::numeric_limits<float>::infinity()).scatter_reduce(1, bins, scores.detach(), "amax");
    const torch::Tensor weights = torch::exp(scores - most.gather(1, bins));
    const torch::Tensor shares = weights / none.scatter_add(1, bins, weights).gather(1, bins);
    return torch::zeros_like(value).index_add(1, pairs.from, shares.unsqueeze(2) * value.index_select(1, pairs.to));
  }

  torch::Tensor ThroughLayer(const std::string& name, torch::Tensor h, const torch::Tensor& condition) const {
    const torch::Tensor normed = Norm(name + ".norm.0", h);
    const torch::Tensor query = Layer(name + ".query", normed), key = Layer(name + ".key", normed),
                        value = Layer(name + ".value", normed);
    const auto by_state = [&](const torch::Tensor& x) { return x.view({count_, groups_ * kHeads, kAttention}); };
    const auto as_one = [&](const torch::Tensor& x) { return x.view({1, count_ * groups_ * kHeads, kAttention}); };
    const torch::Tensor edge_weights = torch::cat(
        {parameters_.at(name + ".edge.weight"), torch::zeros({kHeads - kDirectRelations}, normed.options())});
    const torch::Tensor related = Mix(by_state(query), by_state(key), by_state(value), pairs_,
                                      edge_weights.index_select(0, heads_).unsqueeze(0) * edges_);
    const torch::Tensor linked =
        Mix(as_one(query), as_one(key), as_one(value), links_, torch::zeros({1, 1}, normed.options()));
    const torch::Tensor mixed =
        related.view({count_ * groups_, kHeads * kAttention}) + linked.view({count_ * groups_, kHeads * kAttention});
    h = h + Layer(name + ".join", mixed);
    const torch::Tensor z = Layer(name + ".first", Norm(name + ".norm.1", h));
    return h + Layer(name + ".out",
                     torch::relu(z * (1 + Layer(name + ".scale", condition)) + Layer(name + ".shift", condition)));
  }

  void Choose(const torch::Tensor& h, const torch::Tensor& place, const torch::Tensor& condition) {
    const torch::Tensor completions = Floats(states_.choice_completions, kCompletions, device_);
    const torch::Tensor first =
        Layer("joint.embed", h).index_select(0, Indices(states_.choice_group, device_)) +
        Layer("joint.place", place).index_select(0, Indices(states_.choice_device, device_)) +
        Layer("joint.condition", condition) +
        Layer("joint.features", Floats(states_.choice_features, kDeviceChoiceFeatures, device_)) +
        Layer("joint.completions", completions);
    const torch::Tensor gain = torch::exp(torch::clamp(Layer("joint.gain", condition), -8, 8));
    const torch::Tensor joint =
        Layer("joint.out", gain * torch::relu(Layer("joint.hidden", torch::relu(first)))).squeeze(1) +
        (Strengths(parameters_, "joint", condition) * Floats(states_.choice_priors, kDeviceChoicePriors, device_))
            .sum(1) +
        (Strengths(parameters_, "completion", condition) * completions).sum(1) *
            (static_cast<double>(groups_) / problem_.temperature);
    const auto ready = static_cast<std::int64_t>(states_.ready_state.size());
    const torch::Tensor by_ready = LogSumExpBy(Indices(states_.choice_ready, device_), joint, ready);
    const torch::Tensor group_logits =
        by_ready +
        (Strengths(parameters_, "group", condition) * Floats(states_.ready_priors, kGroupPriors, device_)).sum(1);
    const torch::Tensor state_of = Indices(states_.ready_state, device_);
    const torch::Tensor by_state = LogSumExpBy(state_of, group_logits, count_);
    const torch::Tensor taken = Indices(states_.taken_ready, device_);
    groups.log_probability =
        group_logits.index_select(0, taken) - by_state.index_select(0, state_of.index_select(0, taken));
    devices.log_probability =
        joint.index_select(0, Indices(states_.taken_choice, device_)) - by_ready.index_select(0, taken);
  }

  void Remove(const torch::Tensor& h, const torch::Tensor& place, const torch::Tensor& condition) {
    const torch::Tensor first =
        Layer("backward.embed", h).index_select(0, Indices(states_.removal_group, device_)) +
        Layer("backward.place", place).index_select(0, Indices(states_.removal_device, device_)) +
        Layer("backward.condition", condition);
    const torch::Tensor logits =
        Layer("backward.out", torch::relu(Layer("backward.hidden", torch::relu(first)))).squeeze(1);
    const torch::Tensor bins = Indices(states_.removal_bin, device_);
    const torch::Tensor by_state = LogSumExpBy(bins, logits, states_.removal_bins);
    const torch::Tensor taken = Indices(states_.taken_removal, device_);
    removals.log_probability = logits.index_select(0, taken) - by_state.index_select(0, bins.index_select(0, taken));
  }

  const Parameters& parameters_;
  const RecordedSteps& problem_;
  const StateSteps& states_;
  torch::Device device_;
  std::int64_t groups_, devices_, count_;  // count_: of states
  Pairs pairs_;                            // of every state: group * kHeads + head
  torch::Tensor heads_;                    // groups * groups: by which head
  torch::Tensor edges_;                    // 1 x groups * groups
  Pairs links_;                            // of all states: (state * groups + group) * kHeads + head
};

}  // namespace

NetworkOutputs RunStateNetwork(const Parameters& parameters, const std::vector<RecordedSteps>& problems,
                               torch::Device device) {
  std::vector<torch::Tensor> groups, devices, removals;
  for (const RecordedSteps& problem : problems) {
    StatePass pass(parameters, problem, device);
    pass.Run();
    groups.push_back(pass.groups.log_probability);
    devices.push_back(pass.devices.log_probability);
    if (pass.removals.log_probability.defined()) removals.push_back(pass.removals.log_probability);
  }
  NetworkOutputs outputs;
  outputs.groups.log_probability = torch::cat(groups);
  outputs.devices.log_probability = torch::cat(devices);
  if (!removals.empty()) outputs.removals.log_probability = torch::cat(removals);
  return outputs;
}

}  // namespace millrace
