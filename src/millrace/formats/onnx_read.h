// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "millrace/formats/model.h"

// Reading ONNX models and tensors. Everything that comes from a file is hostile until checked: our own validation
// first, then libonnx's checker and shape inference in a forked child whose death is one clear line.
namespace millrace {

struct OnnxReadOptions {
  std::map<std::string, std::int64_t> dimensions;  // sizes for the model's symbolic dimensions, by name
};

// The model in `path`: external data read, float16 and bfloat16 widened to float32, constants folded, dead nodes
// removed, every shape inferred. Warnings (an output without a shape, say) are appended to `warnings` where it is
// given. Throws InvalidInput.
Model ReadOnnx(const std::string& path, const OnnxReadOptions& options = {},
               std::vector<std::string>* warnings = nullptr);

// A tensor in a TensorProto file (.pb). Throws InvalidInput.
std::shared_ptr<const ConstantData> ReadTensor(const std::string& path);

// A tensor of float16 or bfloat16 in float32, as ReadOnnx has it in models; any other as it is.
std::shared_ptr<const ConstantData> Widened(std::shared_ptr<const ConstantData> tensor);

}  // namespace millrace
