// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

// Flat arrays as tensors, and the layers that all networks are made of. Tensors share their values when copied; those
// made here own a copy of the arrays.
namespace millrace {

using Parameters = std::map<std::string, torch::Tensor>;  // by the tensor names of the architecture's shapes

// (values / columns) x columns, copied to the device.
torch::Tensor Floats(const std::vector<float>& values, std::int64_t columns, torch::Device device);
torch::Tensor Indices(const std::vector<std::int64_t>& values, torch::Device device);

// NAME.weight x, and + NAME.bias where there is one. x: rows x inputs.
torch::Tensor Linear(const Parameters& parameters, const std::string& name, const torch::Tensor& x);

// exp(clamp(HEAD.strength condition, -8, 8)).
torch::Tensor Strengths(const Parameters& parameters, const std::string& head, const torch::Tensor& condition);

// Log of the sum of exp(values) by bin. Every one of `bins` bins must have a value.
torch::Tensor LogSumExpBy(const torch::Tensor& bin, const torch::Tensor& values, std::int64_t bins);

}  // namespace millrace
