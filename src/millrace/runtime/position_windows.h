// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "millrace/runtime/window.h"
#include "millrace/runtime/work_share.h"

// Pooling windows over an image whose channels are innermost: which positions of the source each position of the result
// is made from. One to three spatial dimensions; padding is no position.
namespace millrace {

class PositionWindows {
 public:
  using Place = std::array<std::int64_t, 3>;  // along rows, columns and what lies within

  // `source`: images, channels, then the spatial sizes.
  PositionWindows(const SlidingWindow& window, const Shape& source)
      : kernel_(ThreeOf(window.kernel, 1)),
        strides_(ThreeOf(window.strides, 1)),
        dilations_(ThreeOf(window.dilations, 1)),
        pads_(ThreeOf(window.pads_begin, 0)),
        source_(ThreeOf(Shape(source.begin() + 2, source.end()), 1)),
        result_(ThreeOf(window.output, 1)) {}

  // Calls use(place) for every position of these rows of the result, as they lie in memory.
  template <typename Use>
  void ForResults(Share rows, const Use& use) const {
    for (std::int64_t row = rows.begin; row < rows.end; ++row)
      for (std::int64_t column = 0; column < result_[1]; ++column)
        for (std::int64_t inner = 0; inner < result_[2]; ++inner) use(Place{row, column, inner});
  }

  // Calls use(position) for every position of the source in the window of `at`.
  template <typename Use>
  void ForSources(const Place& at, const Use& use) const {
    for (std::int64_t row = 0; row < kernel_[0]; ++row) {
      const std::int64_t from_row = At(0, at, row);
      if (from_row < 0 || from_row >= source_[0]) continue;
      for (std::int64_t column = 0; column < kernel_[1]; ++column) {
        const std::int64_t from_column = At(1, at, column);
        if (from_column < 0 || from_column >= source_[1]) continue;
        for (std::int64_t inner = 0; inner < kernel_[2]; ++inner) {
          const std::int64_t from_inner = At(2, at, inner);
          if (from_inner < 0 || from_inner >= source_[2]) continue;
          use((from_row * source_[1] + from_column) * source_[2] + from_inner);
        }
      }
    }
  }

  // Positions of a window, padding included.
  std::int64_t WindowSize() const { return kernel_[0] * kernel_[1] * kernel_[2]; }

 private:
  static Place ThreeOf(const Shape& sizes, std::int64_t missing) {
    Place three = {missing, missing, missing};
    std::copy(sizes.begin(), sizes.end(), three.begin());
    return three;
  }

  std::int64_t At(std::size_t axis, const Place& at, std::int64_t step) const {
    return at[axis] * strides_[axis] - pads_[axis] + step * dilations_[axis];
  }

  Place kernel_, strides_, dilations_, pads_, source_, result_;
};

}  // namespace millrace
