// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/onnx_tensor.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "millrace/errors/errors.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/onnx_read.h"
#include "millrace/formats/onnx_write.h"

namespace millrace {
namespace {

using onnx::TensorProto;

template <typename Element, typename Field>
std::vector<std::byte> Narrowed(const Field& values) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(values.size()) * sizeof(Element));
  std::size_t at = 0;
  for (const auto value : values) {
    const Element element = static_cast<Element>(value);
    std::memcpy(bytes.data() + at, &element, sizeof(Element));
    at += sizeof(Element);
  }
  return bytes;
}

// How many elements the field for this type holds, and how many any field for another type does.
struct Stored {
  std::int64_t fitting = 0;
  std::int64_t foreign = 0;
};

Stored TypedElements(const TensorProto& tensor, DataType type) {
  const std::int64_t floats = tensor.float_data_size();
  const std::int64_t int32s = tensor.int32_data_size();
  const std::int64_t int64s = tensor.int64_data_size();
  const std::int64_t doubles = tensor.double_data_size();
  const std::int64_t uint64s = tensor.uint64_data_size();
  const std::int64_t strings = tensor.string_data_size();
  const std::int64_t all = floats + int32s + int64s + doubles + uint64s + strings;
  std::int64_t fitting = int32s;
  if (type == DataType::kFloat32) fitting = floats;
  if (type == DataType::kFloat64) fitting = doubles;
  if (type == DataType::kInt64) fitting = int64s;
  if (type == DataType::kUint32 || type == DataType::kUint64) fitting = uint64s;
  if (type == DataType::kString) fitting = strings;
  return {fitting, all - fitting};
}

std::vector<std::byte> TypedBytes(const TensorProto& tensor, DataType type) {
  switch (type) {
    case DataType::kFloat32:
      return Narrowed<float>(tensor.float_data());
    case DataType::kFloat64:
      return Narrowed<double>(tensor.double_data());
    case DataType::kInt64:
      return Narrowed<std::int64_t>(tensor.int64_data());
    case DataType::kUint64:
      return Narrowed<std::uint64_t>(tensor.uint64_data());
    case DataType::kUint32:
      return Narrowed<std::uint32_t>(tensor.uint64_data());
    case DataType::kInt32:
      return Narrowed<std::int32_t>(tensor.int32_data());
    case DataType::kInt16:
      return Narrowed<std::int16_t>(tensor.int32_data());
    case DataType::kInt8:
      return Narrowed<std::int8_t>(tensor.int32_data());
    case DataType::kFloat16:
    case DataType::kBfloat16:
    case DataType::kUint16:
      return Narrowed<std::uint16_t>(tensor.int32_data());
    case DataType::kBool:
    case DataType::kUint8:
      return Narrowed<std::uint8_t>(tensor.int32_data());
    case DataType::kString:
      break;
  }
  return {};
}

}  // namespace

std::int64_t CheckedElements(const Shape& shape, const std::string& what) {
  if (shape.size() > kMostDimensions) {
    throw InvalidInput(
        fmt::format("{} has {} dimensions, more than the {} allowed", what, shape.size(), kMostDimensions));
  }
  std::int64_t elements = 1;
  bool empty = false;
  for (const std::int64_t dimension : shape) {
    if (dimension < 0) throw InvalidInput(fmt::format("{} has a negative dimension, {}", what, dimension));
    if (dimension == 0) {
      empty = true;
      continue;
    }
    if (dimension > kMostElements / elements) throw InvalidInput(what + " has more than 2^40 elements");
    elements *= dimension;
  }
  return empty ? 0 : elements;
}

std::optional<DataType> DataTypeOf(std::int32_t onnx_type) {
  switch (onnx_type) {
    case TensorProto::FLOAT:
      return DataType::kFloat32;
    case TensorProto::DOUBLE:
      return DataType::kFloat64;
    case TensorProto::FLOAT16:
      return DataType::kFloat16;
    case TensorProto::BFLOAT16:
      return DataType::kBfloat16;
    case TensorProto::INT8:
      return DataType::kInt8;
    case TensorProto::INT16:
      return DataType::kInt16;
    case TensorProto::INT32:
      return DataType::kInt32;
    case TensorProto::INT64:
      return DataType::kInt64;
    case TensorProto::UINT8:
      return DataType::kUint8;
    case TensorProto::UINT16:
      return DataType::kUint16;
    case TensorProto::UINT32:
      return DataType::kUint32;
    case TensorProto::UINT64:
      return DataType::kUint64;
    case TensorProto::BOOL:
      return DataType::kBool;
    case TensorProto::STRING:
      return DataType::kString;
    default:
      return std::nullopt;
  }
}

std::int32_t OnnxTypeOf(DataType type) {
  switch (type) {
    case DataType::kFloat32:
      return TensorProto::FLOAT;
    case DataType::kFloat64:
      return TensorProto::DOUBLE;
    case DataType::kFloat16:
      return TensorProto::FLOAT16;
    case DataType::kBfloat16:
      return TensorProto::BFLOAT16;
    case DataType::kInt8:
      return TensorProto::INT8;
    case DataType::kInt16:
      return TensorProto::INT16;
    case DataType::kInt32:
      return TensorProto::INT32;
    case DataType::kInt64:
      return TensorProto::INT64;
    case DataType::kUint8:
      return TensorProto::UINT8;
    case DataType::kUint16:
      return TensorProto::UINT16;
    case DataType::kUint32:
      return TensorProto::UINT32;
    case DataType::kUint64:
      return TensorProto::UINT64;
    case DataType::kBool:
      return TensorProto::BOOL;
    case DataType::kString:
      return TensorProto::STRING;
  }
  return TensorProto::UNDEFINED;
}

std::string NameOfOnnxType(std::int32_t onnx_type) {
  if (const std::optional<DataType> type = DataTypeOf(onnx_type)) return NameOf(*type);
  if (onnx_type == TensorProto::COMPLEX64) return "complex64";
  if (onnx_type == TensorProto::COMPLEX128) return "complex128";
  // Types that came after libonnx 1.12, from 17 on.
  constexpr std::array kLater = {"float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz",
                                 "uint4",        "int4",           "float4e2m1"};
  if (onnx_type >= 17 && onnx_type < 17 + static_cast<std::int32_t>(kLater.size())) {
    return kLater[static_cast<std::size_t>(onnx_type - 17)];
  }
  return "number " + std::to_string(onnx_type);
}

Shape ShapeOf(const TensorProto& tensor) { return Shape(tensor.dims().begin(), tensor.dims().end()); }

bool IsExternal(const TensorProto& tensor) { return tensor.data_location() == TensorProto::EXTERNAL; }

void CheckTensor(const TensorProto& tensor, const std::string& what) {
  const std::optional<DataType> type = DataTypeOf(tensor.data_type());
  if (!type)
    throw InvalidInput(what + " has an element type Millrace does not know, " + NameOfOnnxType(tensor.data_type()));
  const std::int64_t elements = CheckedElements(ShapeOf(tensor), what);
  if (tensor.has_segment()) throw InvalidInput(what + " is split into segments; store it whole");
  if (IsExternal(tensor)) {
    if (*type == DataType::kString) throw InvalidInput(what + " keeps strings in another file, which ONNX forbids");
    return;
  }
  const Stored stored = TypedElements(tensor, *type);
  if (stored.foreign > 0 || (stored.fitting > 0 && tensor.has_raw_data() && !tensor.raw_data().empty())) {
    throw InvalidInput(what + " stores its elements in more than one way");
  }
  if (tensor.has_raw_data() && *type == DataType::kString) throw InvalidInput(what + " stores strings as raw bytes");
  if (tensor.has_raw_data() && stored.fitting == 0) {
    const std::uint64_t wanted = static_cast<std::uint64_t>(elements) * BytesOf(*type);
    if (tensor.raw_data().size() != wanted) {
      throw InvalidInput(
          fmt::format("{} stores {} bytes where its dimensions ask for {}", what, tensor.raw_data().size(), wanted));
    }
  } else if (stored.fitting != elements) {
    throw InvalidInput(
        fmt::format("{} stores {} elements where its dimensions ask for {}", what, stored.fitting, elements));
  }
}

std::shared_ptr<const ConstantData> ConstantOf(const TensorProto& tensor, const std::string& what) {
  CheckTensor(tensor, what);
  if (IsExternal(tensor)) throw InvalidInput(what + " lies in another file, which is not possible here");
  const DataType type = *DataTypeOf(tensor.data_type());
  if (type == DataType::kString) throw InvalidInput(what + " holds strings, which Millrace does not take");
  if (tensor.has_raw_data() && TypedElements(tensor, type).fitting == 0) {
    std::vector<std::byte> bytes(tensor.raw_data().size());
    if (!bytes.empty()) std::memcpy(bytes.data(), tensor.raw_data().data(), bytes.size());
    return ConstantData::Dense(type, ShapeOf(tensor), std::move(bytes));
  }
  return ConstantData::Dense(type, ShapeOf(tensor), TypedBytes(tensor, type));
}

void FillTensor(const ConstantData& constant, const std::string& name, TensorProto* tensor) {
  tensor->set_name(name);
  tensor->set_data_type(OnnxTypeOf(constant.type()));
  for (const std::int64_t dimension : constant.shape()) tensor->add_dims(dimension);
  std::string* raw = tensor->mutable_raw_data();
  raw->resize(constant.bytes());
  constant.CopyTo(reinterpret_cast<std::byte*>(raw->data()));
}

std::shared_ptr<const ConstantData> ReadTensor(const std::string& path) {
  const std::string bytes = ReadWholeFile(path, std::size_t{2} << 30);
  try {
    TensorProto tensor;
    if (bytes.size() > 0x7fffffffU || !tensor.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
        tensor.data_type() == TensorProto::UNDEFINED) {
      throw InvalidInput("this is no ONNX tensor (TensorProto), or only a part of one");
    }
    return ConstantOf(tensor, "the tensor");
  } catch (const InvalidInput& error) {
    throw error.InFile(path);
  }
}

void WriteTensor(const ConstantData& tensor, const std::string& name, const std::string& path) {
  if (tensor.bytes() > 0x7fff0000U) throw WorkFailed(path + ": a tensor over 2 GB does not fit a TensorProto file");
  TensorProto message;
  FillTensor(tensor, name, &message);
  WriteFileAtomically(path, message.SerializeAsString());
}

}  // namespace millrace
