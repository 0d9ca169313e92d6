// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

// A network's numbers as named tensors, and the safetensors files they are kept in.
//
// File: 8 bytes little-endian header length, a JSON header {name: {"dtype":"F32","shape":[..],"data_offsets":[b,e]},
// "__metadata__": {..}}, then the data. Only F32 is read.
namespace millrace {

struct WeightTensor {
  std::vector<std::int64_t> shape;
  std::vector<float> values;  // row-major; as many as the shape says

  bool operator==(const WeightTensor&) const = default;
};

struct Weights {
  std::map<std::string, WeightTensor> tensors;
  std::map<std::string, std::string> metadata;  // "architecture" and "version" say which network this is

  bool operator==(const Weights&) const = default;

  // Throws InvalidInput, naming the tensor, where it is missing or of another shape.
  const WeightTensor& Get(std::string_view name, const std::vector<std::int64_t>& shape) const;
};

// Throw InvalidInput, naming the file: not there, truncated, header that is no such JSON, sizes that do not agree,
// another dtype, values that are not finite.
Weights ParseWeights(std::string_view bytes, std::string_view name);
Weights ReadWeights(const std::string& path);

// Refuses values that are not finite with WorkFailed; written whole or not at all.
std::string WeightsBytes(const Weights& weights);
void WriteWeights(const std::string& path, const Weights& weights);

}  // namespace millrace
