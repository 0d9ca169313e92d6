// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/torch/tensors.h"

#include <limits>

namespace millrace {
namespace {

constexpr double kStrengthLimit = 8;

}  // namespace

torch::Tensor Floats(const std::vector<float>& values, std::int64_t columns, torch::Device device) {
  const auto rows = static_cast<std::int64_t>(values.size()) / columns;
  // The tensor only reads; from_blob asks for a pointer it could write through.
  return torch::from_blob(const_cast<float*>(values.data()), {rows, columns}, torch::kFloat32)
      .clone()
      .to(device, /*non_blocking=*/false);
}

torch::Tensor Indices(const std::vector<std::int64_t>& values, torch::Device device) {
  return torch::from_blob(const_cast<std::int64_t*>(values.data()), {static_cast<std::int64_t>(values.size())},
                          torch::kInt64)
      .clone()
      .to(device, /*non_blocking=*/false);
}

torch::Tensor Linear(const Parameters& parameters, const std::string& name, const torch::Tensor& x) {
  const torch::Tensor& weight = parameters.at(name + ".weight");
  const auto bias = parameters.find(name + ".bias");
  return bias == parameters.end() ? x.mm(weight.t()) : torch::addmm(bias->second, x, weight.t());
}

torch::Tensor Strengths(const Parameters& parameters, const std::string& head, const torch::Tensor& condition) {
  return torch::exp(torch::clamp(Linear(parameters, head + ".strength", condition), -kStrengthLimit, kStrengthLimit));
}

torch::Tensor LogSumExpBy(const torch::Tensor& bin, const torch::Tensor& values, std::int64_t bins) {
  const torch::Tensor largest = torch::full({bins}, -std::numeric_limits<float>::infinity(), values.options())
                                    .scatter_reduce(0, bin, values.detach(), "amax");
  const torch::Tensor weights = torch::exp(values - largest.index_select(0, bin));
  return torch::log(torch::zeros({bins}, values.options()).index_add(0, bin, weights)) + largest;
}

}  // namespace millrace
