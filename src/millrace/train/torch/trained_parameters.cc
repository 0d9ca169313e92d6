// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/torch/trained_parameters.h"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "millrace/errors/errors.h"

namespace millrace {
namespace {

constexpr double kFirstMomentDecay = 0.9;
constexpr double kSecondMomentDecay = 0.999;
constexpr double kTiny = 1e-8;

std::int64_t SizeOf(const std::vector<std::int64_t>& shape) {
  std::int64_t size = 1;
  for (const std::int64_t side : shape) size *= side;
  return size;
}

torch::Tensor ToTensor(const WeightTensor& tensor, torch::Device device) {
  return torch::tensor(tensor.values, torch::kFloat32).to(device);
}

}  // namespace

Weights DrawWeights(const Shapes& shapes, Random& random) {
  Weights weights;
  for (const auto& [name, shape] : shapes) {
    std::vector<float> values(static_cast<std::size_t>(SizeOf(shape)), 0);
    if (shape.size() >= 2) {
      const double bound = std::sqrt(6 / static_cast<double>(shape[1]));
      for (float& value : values) value = static_cast<float>(random.Uniform(-bound, bound));
    }
    weights.tensors[name] = {shape, std::move(values)};
  }
  return weights;
}

WeightTensor ToWeightTensor(const torch::Tensor& tensor, std::vector<std::int64_t> shape) {
  const torch::Tensor here = tensor.detach().to(torch::kCPU).contiguous();
  const float* begin = here.data_ptr<float>();
  return {.shape = std::move(shape), .values = std::vector<float>(begin, begin + here.numel())};
}

void SetTorchThreads(int threads) {
  torch::set_num_threads(threads);
  using SetNumber = void (*)(int);
  if (const auto set = reinterpret_cast<SetNumber>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))) set(threads);
}

TrainedParameters::TrainedParameters(Shapes shapes, const Weights& start, double average_decay, torch::Device device,
                                     const Team* team)
    : shapes_(std::move(shapes)), average_decay_(average_decay), device_(device), team_(team) {
  std::vector<torch::Tensor> pieces;
  pieces.reserve(shapes_.size());
  for (const auto& [name, shape] : shapes_) pieces.push_back(ToTensor(start.Get(name, shape), device_));
  flat_ = torch::cat(pieces);
  gradient_ = torch::zeros_like(flat_);
  average_ = flat_.clone();
  first_moment_ = torch::zeros_like(flat_);
  second_moment_ = torch::zeros_like(flat_);
  std::int64_t at = 0;
  for (const auto& [name, shape] : shapes_) {
    torch::Tensor parameter = flat_.narrow(0, at, SizeOf(shape)).view(shape).detach();
    parameter.requires_grad_(true);
    parameter.mutable_grad() = gradient_.narrow(0, at, SizeOf(shape)).view(shape);
    parameters_.emplace(name, parameter);
    at += SizeOf(shape);
  }
}

void TrainedParameters::ClearGradient() {
  of_parts_.clear();
  gradient_.zero_();
}

void TrainedParameters::EndPart() {
  if (team_ == nullptr || team_->size() == 1) return;
  of_parts_.push_back(ToWeightTensor(gradient_, {}).values);
  gradient_.zero_();
}

void TrainedParameters::AddUp(std::size_t parts) {
  if (team_ == nullptr || team_->size() == 1) return;
  std::vector<float> sum(static_cast<std::size_t>(gradient_.numel()));
  team_->Sum(parts, of_parts_, sum);
  const torch::NoGradGuard no_gradients;
  gradient_.copy_(torch::tensor(sum, torch::kFloat32).to(device_));
}

double TrainedParameters::Descend(double learning_rate, double gradient_limit) {
  const torch::NoGradGuard no_gradients;
  const double norm = gradient_.norm().item<double>();
  if (!std::isfinite(norm)) throw WorkFailed("the gradient is not finite");
  if (gradient_limit > 0 && norm > gradient_limit) gradient_.mul_(gradient_limit / norm);

  ++steps_;
  const double step = static_cast<double>(steps_);
  first_moment_.mul_(kFirstMomentDecay).add_(gradient_, 1 - kFirstMomentDecay);
  second_moment_.mul_(kSecondMomentDecay).addcmul_(gradient_, gradient_, 1 - kSecondMomentDecay);
  const double first_share = 1 - std::pow(kFirstMomentDecay, step);
  const double second_share = 1 - std::pow(kSecondMomentDecay, step);
  const torch::Tensor root = second_moment_.div(second_share).sqrt_().add_(kTiny);
  flat_.addcdiv_(first_moment_, root, -learning_rate / first_share);
  // A young average would be the random start for long.
  const double decay = std::min(average_decay_, (1 + step) / (10 + step));
  average_.mul_(decay).add_(flat_, 1 - decay);
  return norm;
}

Weights TrainedParameters::Named(const torch::Tensor& flat, std::size_t count) const {
  Weights weights;
  const torch::Tensor here = flat.detach().to(torch::kCPU);
  std::int64_t at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& [name, shape] = shapes_[i];
    weights.tensors[name] = ToWeightTensor(here.narrow(0, at, SizeOf(shape)), shape);
    at += SizeOf(shape);
  }
  return weights;
}

Weights TrainedParameters::Save() const {
  const std::vector<std::int64_t> shape = {flat_.numel()};
  Weights saved;
  saved.tensors["parameters"] = ToWeightTensor(flat_, shape);
  saved.tensors["average"] = ToWeightTensor(average_, shape);
  saved.tensors["first_moment"] = ToWeightTensor(first_moment_, shape);
  saved.tensors["second_moment"] = ToWeightTensor(second_moment_, shape);
  saved.metadata["steps"] = std::to_string(steps_);
  return saved;
}

void TrainedParameters::Load(const Weights& saved) {
  const std::vector<std::int64_t> shape = {flat_.numel()};
  const torch::NoGradGuard no_gradients;
  const std::pair<const char*, torch::Tensor*> parts[] = {{"parameters", &flat_},
                                                          {"average", &average_},
                                                          {"first_moment", &first_moment_},
                                                          {"second_moment", &second_moment_}};
  for (const auto& [name, tensor] : parts) tensor->copy_(ToTensor(saved.Get(name, shape), device_));
  const auto steps = saved.metadata.find("steps");
  if (steps == saved.metadata.end()) throw InvalidInput("the checkpoint does not say how many steps it has made");
  steps_ = std::stoll(steps->second);
}

}  // namespace millrace
