// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

// Numbers that a network reads, by name. An enum class names the columns of a table in order and ends with kCount; the
// table itself is row-major and has one such row for each op, device or choice. Weights are trained for the order.
namespace millrace {

template <typename Feature>
inline constexpr int kCountOf = static_cast<int>(Feature::kCount);

// One row of a table, which it does not own. Number: float or const float.
template <typename Feature, typename Number = float>
class FeatureRow {
 public:
  explicit FeatureRow(Number* numbers) : numbers_(numbers) {}

  Number& operator[](Feature feature) const { return numbers_[static_cast<std::size_t>(feature)]; }

 private:
  Number* numbers_;
};

template <typename Feature>
FeatureRow<Feature> RowAt(std::vector<float>& table, std::size_t row) {
  return FeatureRow<Feature>(table.data() + row * kCountOf<Feature>);
}

template <typename Feature>
FeatureRow<Feature, const float> RowAt(const std::vector<float>& table, std::size_t row) {
  return FeatureRow<Feature, const float>(table.data() + row * kCountOf<Feature>);
}

}  // namespace millrace
