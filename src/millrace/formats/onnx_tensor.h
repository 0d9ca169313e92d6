// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "millrace/formats/model.h"
#include "millrace/formats/onnx_proto.h"

// TensorProto to ConstantData and back, and element types to and fro.
namespace millrace {

// No tensor of a file may have more elements than this, so products of dimensions never overflow.
inline constexpr std::int64_t kMostElements = std::int64_t{1} << 40;
inline constexpr std::size_t kMostDimensions = 64;

// The product of the dimensions. Throws InvalidInput, beginning with `what`, for a negative dimension, too many of
// them or too large a product.
std::int64_t CheckedElements(const Shape& shape, const std::string& what);

// Nothing for an element type that Model does not have (complex, undefined, unknown).
std::optional<DataType> DataTypeOf(std::int32_t onnx_type);
std::int32_t OnnxTypeOf(DataType type);
std::string NameOfOnnxType(std::int32_t onnx_type);

Shape ShapeOf(const onnx::TensorProto& tensor);
bool IsExternal(const onnx::TensorProto& tensor);

// Checks type, dimensions and, unless the data lies in another file, that as many elements are stored as the
// dimensions say. Throws InvalidInput, beginning with `what`.
void CheckTensor(const onnx::TensorProto& tensor, const std::string& what);

// The elements of a tensor stored in the message itself. Throws InvalidInput as CheckTensor does, and for strings.
std::shared_ptr<const ConstantData> ConstantOf(const onnx::TensorProto& tensor, const std::string& what);

// All elements are written out.
void FillTensor(const ConstantData& constant, const std::string& name, onnx::TensorProto* tensor);

}  // namespace millrace
