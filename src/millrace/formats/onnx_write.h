// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "millrace/formats/model.h"

// Writing ONNX models and tensors: the exporter's and the builders' way out. Files appear whole or not at all.
namespace millrace {

// Writes the model as an ONNX file that its checker accepts. Throws WorkFailed where the file cannot be written.
void WriteOnnx(const Model& model, const std::string& path);

// The same as it would be in the file. Large filled constants become ConstantOfShape nodes, which the importer folds
// back. Throws WorkFailed where the model is over 2 GB.
std::string OnnxBytes(const Model& model);

// Writes a tensor as a TensorProto file (.pb).
void WriteTensor(const ConstantData& tensor, const std::string& name, const std::string& path);

}  // namespace millrace
