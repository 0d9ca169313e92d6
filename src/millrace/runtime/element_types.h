// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "millrace/formats/model.h"

// From a tensor's element type to a C++ type: each function calls `use` with a std::type_identity of it, or does
// nothing where the type is none of those it is for. Booleans are bytes.
namespace millrace {

template <typename Use>
void ForSignedOrFloat(DataType type, const Use& use) {
  switch (type) {
    case DataType::kFloat32:
      return use(std::type_identity<float>{});
    case DataType::kFloat64:
      return use(std::type_identity<double>{});
    case DataType::kInt32:
      return use(std::type_identity<std::int32_t>{});
    case DataType::kInt64:
      return use(std::type_identity<std::int64_t>{});
    default:
      return;
  }
}

template <typename Use>
void ForNumber(DataType type, const Use& use) {
  switch (type) {
    case DataType::kInt8:
      return use(std::type_identity<std::int8_t>{});
    case DataType::kInt16:
      return use(std::type_identity<std::int16_t>{});
    case DataType::kUint8:
      return use(std::type_identity<std::uint8_t>{});
    case DataType::kUint16:
      return use(std::type_identity<std::uint16_t>{});
    case DataType::kUint32:
      return use(std::type_identity<std::uint32_t>{});
    case DataType::kUint64:
      return use(std::type_identity<std::uint64_t>{});
    default:
      return ForSignedOrFloat(type, use);
  }
}

// Unsigned integers of the element's size, to move elements without looking at them.
template <typename Use>
void ForSize(DataType type, const Use& use) {
  switch (BytesOf(type)) {
    case 1:
      return use(std::type_identity<std::uint8_t>{});
    case 2:
      return use(std::type_identity<std::uint16_t>{});
    case 4:
      return use(std::type_identity<std::uint32_t>{});
    case 8:
      return use(std::type_identity<std::uint64_t>{});
    default:
      return;
  }
}

}  // namespace millrace
