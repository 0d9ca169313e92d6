// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "millrace/formats/model.h"

// Writing ONNX models and tensors: the exporter's and the builders' way out. Files appear whole or not at all.
namespace millrace {

// Writes the model as an ONNX file that its checker accepts. Throws WorkFailed where the file cannot be written.
void WriteOnnx(const Model& model, const std::string& path);

// Writes a tensor as a TensorProto file (.pb).
void WriteTensor(const ConstantData& tensor, const std::string& name, const std::string& path);

}  // namespace millrace
