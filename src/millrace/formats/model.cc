// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/model.h"

#include <bit>
#include <cstring>

#include "millrace/errors/errors.h"

namespace millrace {
namespace {

static_assert(std::endian::native == std::endian::little, "constants are kept in ONNX's little-endian order");

template <typename Wanted>
const Wanted* AttributeOf(const Node& node, const std::string& name) {
  const auto found = node.attributes.find(name);
  if (found == node.attributes.end()) return nullptr;
  const Wanted* value = std::get_if<Wanted>(&found->second);
  if (value == nullptr) {
    throw InvalidInput("node '" + node.name + "' (" + node.op_type + "): attribute '" + name +
                       "' has another type than its operator says");
  }
  return value;
}

template <typename Element, typename Result>
std::vector<Result> Converted(const std::vector<std::byte>& elements) {
  std::vector<Result> result(elements.size() / sizeof(Element));
  for (std::size_t i = 0; i < result.size(); ++i) {
    Element element;
    std::memcpy(&element, elements.data() + i * sizeof(Element), sizeof(Element));
    result[i] = static_cast<Result>(element);  // NOLINT(bugprone-signed-char-misuse): an int8 is a number here
  }
  return result;
}

template <typename Result>
std::vector<Result> ConvertedFrom(DataType type, const std::vector<std::byte>& elements) {
  switch (type) {
    case DataType::kFloat32:
      return Converted<float, Result>(elements);
    case DataType::kFloat64:
      return Converted<double, Result>(elements);
    case DataType::kInt8:
      return Converted<std::int8_t, Result>(elements);
    case DataType::kInt16:
      return Converted<std::int16_t, Result>(elements);
    case DataType::kInt32:
      return Converted<std::int32_t, Result>(elements);
    case DataType::kInt64:
      return Converted<std::int64_t, Result>(elements);
    case DataType::kUint8:
    case DataType::kBool:
      return Converted<std::uint8_t, Result>(elements);
    case DataType::kUint16:
      return Converted<std::uint16_t, Result>(elements);
    case DataType::kUint32:
      return Converted<std::uint32_t, Result>(elements);
    case DataType::kUint64:
      return Converted<std::uint64_t, Result>(elements);
    default:
      throw InvalidInput(std::string("a constant of type ") + NameOf(type) + " cannot be read as numbers here");
  }
}

template <typename Element>
std::vector<std::byte> BytesFrom(const std::vector<Element>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(Element));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace

std::size_t BytesOf(DataType type) {
  switch (type) {
    case DataType::kFloat64:
    case DataType::kInt64:
    case DataType::kUint64:
      return 8;
    case DataType::kFloat32:
    case DataType::kInt32:
    case DataType::kUint32:
      return 4;
    case DataType::kFloat16:
    case DataType::kBfloat16:
    case DataType::kInt16:
    case DataType::kUint16:
      return 2;
    case DataType::kInt8:
    case DataType::kUint8:
    case DataType::kBool:
      return 1;
    case DataType::kString:
      return 0;
  }
  return 0;
}

const char* NameOf(DataType type) {
  switch (type) {
    case DataType::kFloat32:
      return "float32";
    case DataType::kFloat64:
      return "float64";
    case DataType::kFloat16:
      return "float16";
    case DataType::kBfloat16:
      return "bfloat16";
    case DataType::kInt8:
      return "int8";
    case DataType::kInt16:
      return "int16";
    case DataType::kInt32:
      return "int32";
    case DataType::kInt64:
      return "int64";
    case DataType::kUint8:
      return "uint8";
    case DataType::kUint16:
      return "uint16";
    case DataType::kUint32:
      return "uint32";
    case DataType::kUint64:
      return "uint64";
    case DataType::kBool:
      return "bool";
    case DataType::kString:
      return "string";
  }
  return "unknown";
}

std::int64_t ElementsOf(const Shape& shape) {
  std::int64_t elements = 1;
  for (const std::int64_t dimension : shape) elements *= dimension;
  return elements;
}

std::shared_ptr<const ConstantData> ConstantData::Dense(DataType type, Shape shape, std::vector<std::byte> elements) {
  auto data = std::make_shared<ConstantData>();
  data->type_ = type;
  data->shape_ = std::move(shape);
  data->stored_ = std::move(elements);
  if (data->stored_.size() != data->bytes()) throw InvalidInput("a constant's data and its shape disagree in size");
  return data;
}

std::shared_ptr<const ConstantData> ConstantData::Filled(DataType type, Shape shape,
                                                         std::vector<std::byte> one_element) {
  auto data = std::make_shared<ConstantData>();
  data->type_ = type;
  data->shape_ = std::move(shape);
  data->filled_ = true;
  data->stored_ = std::move(one_element);
  if (data->stored_.size() != BytesOf(type)) throw InvalidInput("a constant's filling element has the wrong size");
  return data;
}

std::shared_ptr<const ConstantData> ConstantData::Floats(Shape shape, const std::vector<float>& values) {
  return Dense(DataType::kFloat32, std::move(shape), BytesFrom(values));
}

std::shared_ptr<const ConstantData> ConstantData::Int64s(Shape shape, const std::vector<std::int64_t>& values) {
  return Dense(DataType::kInt64, std::move(shape), BytesFrom(values));
}

void ConstantData::CopyTo(std::byte* destination) const {
  if (!filled_) {
    if (!stored_.empty()) std::memcpy(destination, stored_.data(), stored_.size());
    return;
  }
  const std::size_t total = bytes();
  for (std::size_t at = 0; at < total; at += stored_.size())
    std::memcpy(destination + at, stored_.data(), stored_.size());
}

std::vector<float> ConstantData::AsFloats() const {
  std::vector<std::byte> all(bytes());
  CopyTo(all.data());
  return ConvertedFrom<float>(type_, all);
}

std::vector<std::int64_t> ConstantData::AsInt64s() const {
  std::vector<std::byte> all(bytes());
  CopyTo(all.data());
  return ConvertedFrom<std::int64_t>(type_, all);
}

std::int64_t Model::IntOf(const Node& node, const std::string& attribute, std::int64_t otherwise) {
  const auto* value = AttributeOf<std::int64_t>(node, attribute);
  return value == nullptr ? otherwise : *value;
}

float Model::FloatOf(const Node& node, const std::string& attribute, float otherwise) {
  const auto* value = AttributeOf<float>(node, attribute);
  return value == nullptr ? otherwise : *value;
}

std::string Model::StringOf(const Node& node, const std::string& attribute, const std::string& otherwise) {
  const auto* value = AttributeOf<std::string>(node, attribute);
  return value == nullptr ? otherwise : *value;
}

std::vector<std::int64_t> Model::IntsOf(const Node& node, const std::string& attribute,
                                        const std::vector<std::int64_t>& otherwise) {
  const auto* value = AttributeOf<std::vector<std::int64_t>>(node, attribute);
  return value == nullptr ? otherwise : *value;
}

std::vector<float> Model::FloatsOf(const Node& node, const std::string& attribute,
                                   const std::vector<float>& otherwise) {
  const auto* value = AttributeOf<std::vector<float>>(node, attribute);
  return value == nullptr ? otherwise : *value;
}

}  // namespace millrace
