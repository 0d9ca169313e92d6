// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/gflownet/network.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "millrace/gflownet/environment/observation.h"
#include "millrace/gflownet/policy/message_passing.h"

namespace millrace {
namespace {

constexpr std::int64_t kLogPartitionHidden = 32;

// Edges of one direction, of all graphs: from whom a message comes, to whom it goes.
struct Edges {
  std::vector<std::int64_t> from, to;
  std::vector<float> features;

  void Append(const std::vector<std::int32_t>& offsets, const std::vector<std::int32_t>& ends,
              const std::vector<float>& values, std::int64_t first_node) {
    for (std::size_t node = 0; node + 1 < offsets.size(); ++node) {
      for (std::int32_t edge = offsets[node]; edge < offsets[node + 1]; ++edge) {
        from.push_back(first_node + ends[static_cast<std::size_t>(edge)]);
        to.push_back(first_node + static_cast<std::int64_t>(node));
      }
    }
    features.insert(features.end(), values.begin(), values.end());
  }
};

// Choices of one kind, of all problems.
struct Choices {
  std::vector<std::int64_t> problem, node, device, step;  // by choice
  std::vector<std::int64_t> taken;                        // by step: a choice
  std::vector<float> features, priors, outlook;           // by choice

  void Append(const ChoiceBatch& batch, std::int64_t problem_index, std::int64_t first_node,
              std::int64_t first_device) {
    const auto first_choice = static_cast<std::int64_t>(node.size());
    const auto first_step = static_cast<std::int64_t>(taken.size());
    for (std::size_t i = 0; i < batch.size(); ++i) {
      problem.push_back(problem_index);
      node.push_back(first_node + batch.group[i]);
      device.push_back(first_device + batch.device[i]);
    }
    for (std::size_t s = 0; s < batch.steps(); ++s) {
      step.insert(step.end(), static_cast<std::size_t>(batch.offsets[s + 1] - batch.offsets[s]),
                  first_step + static_cast<std::int64_t>(s));
      taken.push_back(first_choice + batch.chosen[s]);
    }
    features.insert(features.end(), batch.features.begin(), batch.features.end());
    priors.insert(priors.end(), batch.priors.begin(), batch.priors.end());
    outlook.insert(outlook.end(), batch.outlook.begin(), batch.outlook.end());
    outlook.resize(node.size() * kOutlookNumbers);  // zeros where a graph has none
  }
};

class Pass {
 public:
  Pass(const Parameters& parameters, torch::Device device) : parameters_(parameters), device_(device) {}

  torch::Tensor Linear(const std::string& name, const torch::Tensor& x) const {
    return millrace::Linear(parameters_, name, x);
  }

  // Mean and max over the messages that reach each node, side by side.
  torch::Tensor Gather(const std::string& name, const torch::Tensor& h, const torch::Tensor& from,
                       const torch::Tensor& to, const torch::Tensor& features) const {
    const auto nodes = h.size(0);
    const torch::Tensor messages =
        torch::relu(Linear(name, h).index_select(0, from) + Linear(name + ".edge", features));
    const torch::Tensor sum = torch::zeros({nodes, kMessage}, h.options()).index_add(0, to, messages);
    const torch::Tensor count =
        torch::zeros({nodes}, h.options()).index_add(0, to, torch::ones({to.size(0)}, h.options())).clamp_min(1);
    // Messages are not negative, so a max that starts from 0 is the max, and 0 where there is none.
    const torch::Tensor largest =
        torch::zeros({nodes, kMessage}, h.options())
            .scatter_reduce(0, to.unsqueeze(1).expand({to.size(0), kMessage}), messages, "amax");
    return torch::cat({sum / count.unsqueeze(1), largest}, 1);
  }

  torch::Tensor Strengths(const std::string& head, const torch::Tensor& condition) const {
    return millrace::Strengths(parameters_, head, condition);
  }

  // `first`: by choice, what does not depend on the step.
  ChoiceOutputs Head(const std::string& head, const torch::Tensor& first, const torch::Tensor& condition,
                     const Choices& choices, int features, int priors, bool entropy) const {
    const torch::Tensor step = Indices(choices.step, device_);
    const torch::Tensor problem = Indices(choices.problem, device_);
    torch::Tensor sum = first + Linear(head + ".features", Floats(choices.features, features, device_));
    torch::Tensor prior =
        (Strengths(head, condition).index_select(0, problem) * Floats(choices.priors, priors, device_)).sum(1);
    if (parameters_.contains(head + ".ahead.weight")) {
      const torch::Tensor outlook = Floats(choices.outlook, kOutlookNumbers, device_);
      sum = sum + Linear(head + ".ahead", outlook.narrow(1, 0, kAheadFeatures));
      prior = prior +
              (Strengths(head + ".ahead", condition).index_select(0, problem) * outlook.narrow(1, kAheadFeatures, 1))
                  .squeeze(1);
    }
    const torch::Tensor inner = torch::relu(sum);
    const torch::Tensor logits = Linear(head + ".out", torch::relu(Linear(head + ".hidden", inner))).squeeze(1) + prior;

    const auto steps = static_cast<std::int64_t>(choices.taken.size());
    const torch::Tensor largest = torch::full({steps}, -std::numeric_limits<float>::infinity(), logits.options())
                                      .scatter_reduce(0, step, logits.detach(), "amax");
    const torch::Tensor shifted = logits - largest.index_select(0, step);
    const torch::Tensor weights = torch::exp(shifted);
    const torch::Tensor sums = torch::zeros({steps}, logits.options()).index_add(0, step, weights);
    const torch::Tensor log_sums = torch::log(sums);
    ChoiceOutputs outputs;
    outputs.log_probability = shifted.index_select(0, Indices(choices.taken, device_)) - log_sums;
    if (entropy) {
      outputs.entropy = log_sums - torch::zeros({steps}, logits.options()).index_add(0, step, weights * shifted) / sums;
    }
    return outputs;
  }

 private:
  const Parameters& parameters_;
  torch::Device device_;
};

}  // namespace

std::vector<std::pair<std::string, std::vector<std::int64_t>>> LogPartitionShapes() {
  return {{"log_partition.0.weight", {kLogPartitionHidden, kGlobalFeatures + 2}},
          {"log_partition.0.bias", {kLogPartitionHidden}},
          {"log_partition.1.weight", {1, kLogPartitionHidden}},
          {"log_partition.1.bias", {1}}};
}

NetworkOutputs RunNetwork(const Parameters& parameters, const std::vector<RecordedSteps>& problems, bool entropy,
                          bool log_partition, torch::Device device) {
  std::vector<float> nodes, devices, conditions, log_sizes, sizes;
  std::vector<std::int64_t> problem_of_node;
  Edges backward_edges, forward_edges;
  Choices groups, placements;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const GraphFeatures& graph = *problems[i].graph;
    const auto first_node = static_cast<std::int64_t>(problem_of_node.size());
    const auto first_device = static_cast<std::int64_t>(devices.size()) / kDeviceFeatures;
    nodes.insert(nodes.end(), graph.nodes.begin(), graph.nodes.end());
    devices.insert(devices.end(), graph.devices.begin(), graph.devices.end());
    conditions.push_back(static_cast<float>(std::log(problems[i].temperature)));
    conditions.insert(conditions.end(), graph.global.begin(), graph.global.end());
    sizes.push_back(static_cast<float>(graph.num_groups));
    log_sizes.push_back(std::log(sizes.back()));
    problem_of_node.insert(problem_of_node.end(), static_cast<std::size_t>(graph.num_groups),
                           static_cast<std::int64_t>(i));
    forward_edges.Append(graph.predecessor_offsets, graph.predecessors, graph.predecessor_features, first_node);
    backward_edges.Append(graph.successor_offsets, graph.successors, graph.successor_features, first_node);
    groups.Append(problems[i].steps->groups, static_cast<std::int64_t>(i), first_node, 0);
    placements.Append(problems[i].steps->devices, static_cast<std::int64_t>(i), first_node, first_device);
  }

  const Pass pass(parameters, device);
  const torch::Tensor inputs = Floats(conditions, kGlobalFeatures + 1, device);
  const torch::Tensor c = torch::relu(pass.Linear("condition.1", torch::relu(pass.Linear("condition.0", inputs))));
  const torch::Tensor node_problems = Indices(problem_of_node, device);
  const torch::Tensor forward_from = Indices(forward_edges.from, device);
  const torch::Tensor forward_to = Indices(forward_edges.to, device);
  const torch::Tensor forward_features = Floats(forward_edges.features, 1, device);
  const torch::Tensor backward_from = Indices(backward_edges.from, device);
  const torch::Tensor backward_to = Indices(backward_edges.to, device);
  const torch::Tensor backward_features = Floats(backward_edges.features, 1, device);
  torch::Tensor h = torch::relu(pass.Linear("input", Floats(nodes, kNodeFeatures, device)));
  for (int round = 0; round < kRounds; ++round) {
    const std::string name = "round." + std::to_string(round);
    const torch::Tensor z = pass.Linear(
        name + ".mix", torch::cat({h, pass.Gather(name + ".forward", h, forward_from, forward_to, forward_features),
                                   pass.Gather(name + ".backward", h, backward_from, backward_to, backward_features)},
                                  1));
    const torch::Tensor scale = pass.Linear(name + ".scale", c).index_select(0, node_problems);
    const torch::Tensor shift = pass.Linear(name + ".shift", c).index_select(0, node_problems);
    h = h + pass.Linear(name + ".out", torch::relu(z * (1 + scale) + shift));
  }

  NetworkOutputs outputs;
  const torch::Tensor group_first =
      pass.Linear("group.embed", h) + pass.Linear("group.condition", c).index_select(0, node_problems);
  outputs.groups = pass.Head("group", group_first.index_select(0, Indices(groups.node, device)), c, groups,
                             kGroupFeatures, kGroupPriors, entropy);
  const torch::Tensor device_first =
      pass.Linear("device.embed", h) + pass.Linear("device.condition", c).index_select(0, node_problems);
  const torch::Tensor device_table = pass.Linear(
      "device.device.1", torch::relu(pass.Linear("device.device.0", Floats(devices, kDeviceFeatures, device))));
  outputs.devices = pass.Head("device",
                              device_first.index_select(0, Indices(placements.node, device)) +
                                  device_table.index_select(0, Indices(placements.device, device)),
                              c, placements, kDeviceChoiceFeatures, kDeviceChoicePriors, entropy);
  if (log_partition) {
    const torch::Tensor x = torch::cat({inputs, Floats(log_sizes, 1, device)}, 1);
    const torch::Tensor per_group = pass.Linear("log_partition.1", torch::relu(pass.Linear("log_partition.0", x)));
    outputs.log_partition = (per_group * Floats(sizes, 1, device)).squeeze(1);
  }
  return outputs;
}

}  // namespace millrace
