// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "millrace/runtime/elementwise_step.h"

// The rows of a broadcasting op: dimensions along which every operand either advances evenly or repeats are merged, so
// that what remains is few long rows in each of which an operand is either contiguous (stride 1) or one element.
namespace millrace {

class Broadcast {
 public:
  static constexpr std::size_t kMaximalRank = 16;
  static constexpr std::size_t kMaximalOperands = 3;

  // Of operands `first` and the ones after it, `count` of them (at most kMaximalOperands). With `lanes`, two innermost
  // dimensions of which the last is 16 long may form one row, along which operands are contiguous or repeat 16
  // elements.
  Broadcast(const StepShape& shape, std::span<const std::size_t> operands, bool lanes);

  // How operand i moves along a row.
  enum class Pace { kOne, kEach, kLanes };
  Pace pace(std::size_t i) const { return paces_[i]; }

  // Calls row(pointers, out, count) for the stretches of rows in begin..begin+count-1; pointers are operands' first
  // elements there. `size[i]` is the bytes of an element of operand i, `out_size` of the output.
  template <typename Row>
  void ForRows(const std::byte* const* operands, const std::size_t* size, std::byte* out, std::size_t out_size,
               std::int64_t begin, std::int64_t count, const Row& row) const {
    std::array<const std::byte*, kMaximalOperands> at{};
    std::int64_t row_index = begin / row_length_, column = begin % row_length_;
    for (std::int64_t done = 0; done < count;) {
      const std::int64_t length = row_length_ - column < count - done ? row_length_ - column : count - done;
      for (std::size_t i = 0; i < operands_; ++i) {
        if (full_[i]) {
          at[i] = operands[i] + static_cast<std::size_t>(done) * size[i];
          continue;
        }
        std::int64_t offset = paces_[i] == Pace::kEach ? column : 0;
        std::int64_t rest = row_index;
        for (std::size_t d = outer_; d-- > 0;) {
          offset += rest % dims_[d] * strides_[i][d];
          rest /= dims_[d];
        }
        at[i] = operands[i] + offset * static_cast<std::int64_t>(size[i]);
      }
      row(at.data(), out + static_cast<std::size_t>(done) * out_size, length);
      done += length;
      column = 0;
      ++row_index;
    }
  }

 private:
  std::size_t operands_ = 0;
  std::size_t outer_ = 0;  // dimensions above the row
  std::int64_t row_length_ = 1;
  std::array<bool, kMaximalOperands> full_{};
  std::array<Pace, kMaximalOperands> paces_{};
  std::array<std::int64_t, kMaximalRank> dims_{};
  std::array<std::array<std::int64_t, kMaximalRank>, kMaximalOperands> strides_{};
};

}  // namespace millrace
