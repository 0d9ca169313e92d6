// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/gflownet/learner.h"

#include <optional>
#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/gflownet/policy/learned_policy.h"
#include "millrace/gflownet/policy/message_passing.h"
#include "millrace/gflownet/policy/topoformer.h"
#include "millrace/random/random.h"
#include "millrace/train/gflownet/network.h"
#include "millrace/train/torch/quiet_torch.h"
#include "millrace/train/torch/trained_parameters.h"

namespace millrace {

struct GFlowNetLearner::State {
  GFlowNetLearnerSettings settings;
  torch::Device device = torch::kCPU;
  std::map<std::string, std::string> metadata;
  bool encodes_states = false;
  std::size_t policy_shapes = 0;  // the first ones; what follows is never shipped
  std::optional<TrainedParameters> trained;

  NetworkOutputs outputs;  // of the last Predict

  Weights WithMetadata(Weights weights) const {
    weights.metadata = metadata;
    return weights;
  }
};

GFlowNetLearner::GFlowNetLearner(const Weights& start, const GFlowNetLearnerSettings& settings)
    : state_(std::make_unique<State>()) {
  MakeLearnedPolicy(start);  // refuses what is no such network
  State& state = *state_;
  state.settings = settings;
  SetTorchThreads(settings.threads);
  if (torch::cuda::is_available()) state.device = torch::Device(torch::kCUDA, 0);
  state.metadata = start.metadata;
  state.encodes_states = start.metadata.contains("encodes");
  Shapes shapes;
  if (state.encodes_states) {
    if (start.metadata.at("encodes") != "state" || settings.log_partition || settings.entropy) {
      throw InvalidInput("a topoformer is trained by log-partition variance, and where it encodes states, alone");
    }
    shapes = TopoformerShapes(Encodes::kState, BackwardOf(start));
  } else {
    shapes = MessagePassingShapes(LooksAhead(start));
  }
  state.policy_shapes = shapes.size();
  Weights all = start;
  if (settings.log_partition) {
    Random random(1);
    const Shapes more = LogPartitionShapes();
    all.tensors.merge(DrawWeights(more, random).tensors);
    shapes.insert(shapes.end(), more.begin(), more.end());
  }
  state.trained.emplace(std::move(shapes), all, settings.average_decay, state.device, settings.team);
}

GFlowNetLearner::~GFlowNetLearner() = default;

std::vector<Predicted> GFlowNetLearner::Predict(const std::vector<RecordedSteps>& recorded) {
  State& state = *state_;
  const QuietTorch quiet;
  state.outputs = state.encodes_states ? RunStateNetwork(state.trained->parameters(), recorded, state.device)
                                       : RunNetwork(state.trained->parameters(), recorded, state.settings.entropy,
                                                    state.settings.log_partition, state.device);
  const WeightTensor groups = ToWeightTensor(state.outputs.groups.log_probability, {});
  const WeightTensor devices = ToWeightTensor(state.outputs.devices.log_probability, {});
  const bool backward = state.outputs.removals.log_probability.defined();
  const WeightTensor removals = backward ? ToWeightTensor(state.outputs.removals.log_probability, {}) : WeightTensor();
  std::vector<Predicted> all(recorded.size());
  auto removal = removals.values.begin();
  auto group = groups.values.begin();
  auto device = devices.values.begin();
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    const RecordedSteps& own = recorded[i];
    const std::size_t group_steps = state.encodes_states ? own.states->taken_ready.size() : own.steps->groups.steps();
    const std::size_t device_steps = state.encodes_states ? group_steps : own.steps->devices.steps();
    const auto group_end = group + static_cast<std::ptrdiff_t>(group_steps);
    const auto device_end = device + static_cast<std::ptrdiff_t>(device_steps);
    all[i].groups.assign(group, group_end);
    all[i].devices.assign(device, device_end);
    if (backward) {
      const auto removal_end = removal + static_cast<std::ptrdiff_t>(recorded[i].states->taken_removal.size());
      all[i].removals.assign(removal, removal_end);
      removal = removal_end;
    }
    group = group_end;
    device = device_end;
  }
  if (state.settings.log_partition) {
    const WeightTensor log_partition = ToWeightTensor(state.outputs.log_partition, {});
    for (std::size_t i = 0; i < all.size(); ++i) all[i].log_partition = log_partition.values[i];
  }
  return all;
}

void GFlowNetLearner::Follow(const std::vector<Derivative>& derivatives) {
  State& state = *state_;
  std::vector<float> groups, devices, removals, log_partitions, group_entropy, device_entropy;
  for (std::size_t i = 0; i < derivatives.size(); ++i) {
    const Derivative& derivative = derivatives[i];
    groups.insert(groups.end(), derivative.groups.begin(), derivative.groups.end());
    devices.insert(devices.end(), derivative.devices.begin(), derivative.devices.end());
    removals.insert(removals.end(), derivative.removals.begin(), derivative.removals.end());
    log_partitions.push_back(static_cast<float>(derivative.log_partition));
    group_entropy.insert(group_entropy.end(), derivative.groups.size(), static_cast<float>(derivative.entropy));
    device_entropy.insert(device_entropy.end(), derivative.devices.size(), static_cast<float>(derivative.entropy));
  }
  const auto tensor = [&](const std::vector<float>& values) {
    return torch::tensor(values, torch::kFloat32).to(state.device);
  };
  // The gradient flows in at these outputs: no loss is formed, since the objective has differentiated it already.
  std::vector<torch::Tensor> outputs = {state.outputs.groups.log_probability, state.outputs.devices.log_probability};
  std::vector<torch::Tensor> gradients = {tensor(groups), tensor(devices)};
  if (state.outputs.removals.log_probability.defined()) {
    outputs.push_back(state.outputs.removals.log_probability);
    gradients.push_back(tensor(removals));
  }
  if (state.settings.log_partition) {
    outputs.push_back(state.outputs.log_partition);
    gradients.push_back(tensor(log_partitions));
  }
  if (state.settings.entropy) {
    outputs.push_back(state.outputs.groups.entropy);
    gradients.push_back(tensor(group_entropy));
    outputs.push_back(state.outputs.devices.entropy);
    gradients.push_back(tensor(device_entropy));
  }
  torch::autograd::backward(outputs, gradients);
  state.outputs = {};
  state.trained->EndPart();
}

double GFlowNetLearner::Descend(std::size_t parts, double learning_rate) {
  TrainedParameters& trained = *state_->trained;
  trained.AddUp(parts);
  const double norm = trained.Descend(learning_rate, state_->settings.gradient_limit);
  trained.ClearGradient();
  return norm;
}

Weights GFlowNetLearner::weights() const {
  return state_->WithMetadata(state_->trained->Values(state_->policy_shapes));
}
Weights GFlowNetLearner::average() const {
  return state_->WithMetadata(state_->trained->Average(state_->policy_shapes));
}

Weights GFlowNetLearner::Save() const { return state_->trained->Save(); }
void GFlowNetLearner::Load(const Weights& saved) { state_->trained->Load(saved); }

std::string GFlowNetLearner::device() const { return state_->device.is_cuda() ? "cuda" : "cpu"; }

}  // namespace millrace
