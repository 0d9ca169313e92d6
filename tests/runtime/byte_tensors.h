// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "tests/runtime/kernel_harness.h"

// What the tests of kernels on 8-bit integers share: tensors of them, and what a number is stored as.
namespace millrace::testing {

struct Ends {
  int low, high;
};

inline Ends EndsOf(DataType type) { return type == DataType::kInt8 ? Ends{-128, 127} : Ends{0, 255}; }

inline TensorData Bytes(DataType type, const Shape& shape, const std::vector<int>& numbers) {
  std::vector<std::byte> stored;
  for (const int number : numbers) stored.push_back(static_cast<std::byte>(number));
  return ConstantData::Dense(type, shape, std::move(stored));
}

inline TensorData RandomBytes(Random& random, DataType type, const Shape& shape, int low, int high) {
  std::vector<int> numbers;
  for (std::int64_t i = 0; i < ElementsOf(shape); ++i)
    numbers.push_back(low + static_cast<int>(random.Below(static_cast<std::uint64_t>(high - low + 1))));
  return Bytes(type, shape, numbers);
}

inline TensorData Int32s(const std::vector<std::int32_t>& numbers) {
  std::vector<std::byte> stored(numbers.size() * 4);
  std::memcpy(stored.data(), numbers.data(), stored.size());
  return ConstantData::Dense(DataType::kInt32, {static_cast<std::int64_t>(numbers.size())}, std::move(stored));
}

inline TensorData Scalar(float number) { return ConstantData::Floats({}, {number}); }

inline int Stored(double number, int zero_point, DataType type) {
  const Ends ends = EndsOf(type);
  return static_cast<int>(std::min<double>(ends.high, std::max<double>(ends.low, std::nearbyint(number) + zero_point)));
}

// The number a tie is rounded to depends on how the factor was rounded.
inline void ExpectWithinOne(const TensorData& actual, const std::vector<int>& expected) {
  const std::vector<std::int64_t> got = actual->AsInt64s();
  ASSERT_EQ(got.size(), expected.size());
  int others = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_LE(std::abs(got[i] - expected[i]), 1) << "element " << i;
    others += got[i] != expected[i];
  }
  EXPECT_LE(others, 1 + static_cast<int>(got.size() / 50));
}

inline void ExpectExactly(const TensorData& actual, const std::vector<std::int64_t>& expected) {
  EXPECT_EQ(actual->AsInt64s(), expected);
}

}  // namespace millrace::testing
