// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/learner.h"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/policy/learned_policy.h"
#include "millrace/policy/message_passing.h"
#include "millrace/policy/topoformer.h"
#include "millrace/random/random.h"
#include "millrace/train/network.h"

namespace millrace {
namespace {

#if TORCH_VERSION_MAJOR >= 2
namespace torch_warnings = c10::WarningUtils;
#else
namespace torch_warnings = c10::Warning;
#endif

// libtorch says once a process that scatter_reduce may change in later versions, which is nothing to a user.
class Silence : public c10::WarningHandler {
#if TORCH_VERSION_MAJOR >= 2
  void process(const c10::Warning&) override {}
#else
  void process(const c10::SourceLocation&, const std::string&, const bool) override {}
#endif
};

constexpr double kFirstMomentDecay = 0.9;
constexpr double kSecondMomentDecay = 0.999;
constexpr double kTiny = 1e-8;

// libtorch leaves OpenBLAS its own threads, which spin where several programs share the cores.
void SetThreads(int threads) {
  torch::set_num_threads(threads);
  using SetNumber = void (*)(int);
  if (const auto set = reinterpret_cast<SetNumber>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))) set(threads);
}

std::int64_t SizeOf(const std::vector<std::int64_t>& shape) {
  std::int64_t size = 1;
  for (const std::int64_t side : shape) size *= side;
  return size;
}

// He-uniform for matrices, zero for biases.
std::vector<float> DrawInitial(const std::vector<std::int64_t>& shape, Random& random) {
  std::vector<float> values(static_cast<std::size_t>(SizeOf(shape)), 0);
  if (shape.size() < 2) return values;
  const double bound = std::sqrt(6 / static_cast<double>(shape[1]));
  for (float& value : values) value = static_cast<float>(random.Uniform(-bound, bound));
  return values;
}

torch::Tensor ToTensor(const WeightTensor& tensor, torch::Device device) {
  return torch::tensor(tensor.values, torch::kFloat32).to(device);
}

WeightTensor ToWeightTensor(const torch::Tensor& tensor, std::vector<std::int64_t> shape) {
  const torch::Tensor here = tensor.detach().to(torch::kCPU).contiguous();
  const float* begin = here.data_ptr<float>();
  return {.shape = std::move(shape), .values = std::vector<float>(begin, begin + here.numel())};
}

}  // namespace

// All parameters lie one after the other in one flat tensor, their gradients in another, so that the optimiser is a
// handful of operations.
struct Learner::State {
  LearnerSettings settings;
  torch::Device device = torch::kCPU;
  std::map<std::string, std::string> metadata;
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> shapes;
  bool encodes_states = false;
  std::size_t policy_shapes = 0;  // the first ones; what follows is never shipped
  torch::Tensor flat, gradient, average, first_moment, second_moment;
  Parameters parameters;  // views of `flat`
  std::int64_t steps = 0;

  NetworkOutputs outputs;  // of the last Predict

  Weights Shipped(const torch::Tensor& from) const {
    Weights weights;
    weights.metadata = metadata;
    const torch::Tensor here = from.detach().to(torch::kCPU);
    std::int64_t at = 0;
    for (std::size_t i = 0; i < policy_shapes; ++i) {
      const auto& [name, shape] = shapes[i];
      weights.tensors[name] = ToWeightTensor(here.narrow(0, at, SizeOf(shape)), shape);
      at += SizeOf(shape);
    }
    return weights;
  }
};

Learner::Learner(const Weights& start, const LearnerSettings& settings) : state_(std::make_unique<State>()) {
  MakeLearnedPolicy(start);  // refuses what is no such network
  State& state = *state_;
  state.settings = settings;
  SetThreads(settings.threads);
  if (torch::cuda::is_available()) state.device = torch::Device(torch::kCUDA, 0);
  state.metadata = start.metadata;
  state.encodes_states = start.metadata.contains("encodes");
  if (state.encodes_states) {
    if (start.metadata.at("encodes") != "state" || settings.log_partition || settings.entropy) {
      throw InvalidInput("a topoformer is trained by log-partition variance, and where it encodes states, alone");
    }
    state.shapes = TopoformerShapes(Encodes::kState);
  } else {
    state.shapes = MessagePassingShapes();
  }
  state.policy_shapes = state.shapes.size();
  Random random(1);
  std::vector<torch::Tensor> pieces;
  for (const auto& [name, shape] : state.shapes) pieces.push_back(ToTensor(start.Get(name, shape), state.device));
  if (settings.log_partition) {
    for (const auto& named : LogPartitionShapes()) {
      pieces.push_back(ToTensor({named.second, DrawInitial(named.second, random)}, state.device));
      state.shapes.push_back(named);
    }
  }
  state.flat = torch::cat(pieces);
  state.gradient = torch::zeros_like(state.flat);
  state.average = state.flat.clone();
  state.first_moment = torch::zeros_like(state.flat);
  state.second_moment = torch::zeros_like(state.flat);
  std::int64_t at = 0;
  for (const auto& [name, shape] : state.shapes) {
    torch::Tensor parameter = state.flat.narrow(0, at, SizeOf(shape)).view(shape).detach();
    parameter.requires_grad_(true);
    parameter.mutable_grad() = state.gradient.narrow(0, at, SizeOf(shape)).view(shape);
    state.parameters.emplace(name, parameter);
    at += SizeOf(shape);
  }
}

Learner::~Learner() = default;

std::vector<Predicted> Learner::Predict(const std::vector<Replay>& replays) {
  State& state = *state_;
  Silence silence;
  const torch_warnings::WarningHandlerGuard quiet(&silence);
  state.outputs = state.encodes_states ? RunStateNetwork(state.parameters, replays, state.device)
                                       : RunNetwork(state.parameters, replays, state.settings.entropy,
                                                    state.settings.log_partition, state.device);
  const WeightTensor groups = ToWeightTensor(state.outputs.groups.log_probability, {});
  const WeightTensor devices = ToWeightTensor(state.outputs.devices.log_probability, {});
  std::vector<Predicted> all(replays.size());
  auto group = groups.values.begin();
  auto device = devices.values.begin();
  for (std::size_t i = 0; i < replays.size(); ++i) {
    const auto group_end = group + static_cast<std::ptrdiff_t>(replays[i].steps->groups.steps());
    const auto device_end = device + static_cast<std::ptrdiff_t>(replays[i].steps->devices.steps());
    all[i].groups.assign(group, group_end);
    all[i].devices.assign(device, device_end);
    group = group_end;
    device = device_end;
  }
  if (state.settings.log_partition) {
    const WeightTensor log_partition = ToWeightTensor(state.outputs.log_partition, {});
    for (std::size_t i = 0; i < all.size(); ++i) all[i].log_partition = log_partition.values[i];
  }
  return all;
}

double Learner::Descend(const std::vector<Derivative>& derivatives, double learning_rate) {
  State& state = *state_;
  std::vector<float> groups, devices, log_partitions, group_entropy, device_entropy;
  for (std::size_t i = 0; i < derivatives.size(); ++i) {
    const Derivative& derivative = derivatives[i];
    groups.insert(groups.end(), derivative.groups.begin(), derivative.groups.end());
    devices.insert(devices.end(), derivative.devices.begin(), derivative.devices.end());
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
  state.gradient.zero_();
  torch::autograd::backward(outputs, gradients);
  state.outputs = {};

  const torch::NoGradGuard no_gradients;
  const double norm = state.gradient.norm().item<double>();
  if (!std::isfinite(norm)) throw WorkFailed("the gradient is not finite");
  const double limit = state.settings.gradient_limit;
  if (limit > 0 && norm > limit) state.gradient.mul_(limit / norm);

  ++state.steps;
  const double step = static_cast<double>(state.steps);
  state.first_moment.mul_(kFirstMomentDecay).add_(state.gradient, 1 - kFirstMomentDecay);
  state.second_moment.mul_(kSecondMomentDecay).addcmul_(state.gradient, state.gradient, 1 - kSecondMomentDecay);
  const double first_share = 1 - std::pow(kFirstMomentDecay, step);
  const double second_share = 1 - std::pow(kSecondMomentDecay, step);
  const torch::Tensor root = state.second_moment.div(second_share).sqrt_().add_(kTiny);
  state.flat.addcdiv_(state.first_moment, root, -learning_rate / first_share);
  // A young average would be the random start for long.
  const double decay = std::min(state.settings.average_decay, (1 + step) / (10 + step));
  state.average.mul_(decay).add_(state.flat, 1 - decay);
  return norm;
}

Weights Learner::weights() const { return state_->Shipped(state_->flat); }
Weights Learner::average() const { return state_->Shipped(state_->average); }

Weights Learner::Save() const {
  const State& state = *state_;
  const std::vector<std::int64_t> shape = {state.flat.numel()};
  Weights saved;
  saved.tensors["parameters"] = ToWeightTensor(state.flat, shape);
  saved.tensors["average"] = ToWeightTensor(state.average, shape);
  saved.tensors["first_moment"] = ToWeightTensor(state.first_moment, shape);
  saved.tensors["second_moment"] = ToWeightTensor(state.second_moment, shape);
  saved.metadata["steps"] = std::to_string(state.steps);
  return saved;
}

void Learner::Load(const Weights& saved) {
  State& state = *state_;
  const std::vector<std::int64_t> shape = {state.flat.numel()};
  const torch::NoGradGuard no_gradients;
  const std::pair<const char*, torch::Tensor*> parts[] = {{"parameters", &state.flat},
                                                          {"average", &state.average},
                                                          {"first_moment", &state.first_moment},
                                                          {"second_moment", &state.second_moment}};
  for (const auto& [name, tensor] : parts) tensor->copy_(ToTensor(saved.Get(name, shape), state.device));
  const auto steps = saved.metadata.find("steps");
  if (steps == saved.metadata.end()) throw InvalidInput("the checkpoint does not say how many steps it has made");
  state.steps = std::stoll(steps->second);
}

std::string Learner::device() const { return state_->device.is_cuda() ? "cuda" : "cpu"; }

}  // namespace millrace
