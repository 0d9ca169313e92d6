// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "millrace/runtime/kernel.h"

// Moving elements by tables: the element of the output at (i0, i1, ...) is the source's at table0[i0] + table1[i1] +
// ..., or the filler where one of them is negative. Transposes, slices, splits, paddings, expansions, tilings, the
// shuffles between depth and space and nearest-neighbour resizing are all of this form.
namespace millrace {

class TableCopy {
 public:
  // Along a dimension, entry i is the offset in elements, or kFill.
  using Table = std::vector<std::int64_t>;
  static constexpr std::int64_t kFill = -1;

  // One table per output dimension, outermost first.
  TableCopy(std::vector<Table> tables, std::size_t element_bytes);

  std::int64_t elements() const { return elements_; }

  // Copies elements begin..end-1 of the output. `filler` is one element; may be null where no table fills.
  void Copy(const std::byte* source, std::byte* out, const std::byte* filler, std::int64_t begin,
            std::int64_t end) const;

 private:
  // A run of the innermost dimension: from `first` on, `count` entries that fill, repeat one element, or advance by
  // `step` elements.
  struct Run {
    std::int64_t first = 0, count = 0, offset = 0, step = 0;
    bool fills = false;
  };

  template <typename T>
  void CopyAs(const T* source, T* out, const T* filler, std::int64_t begin, std::int64_t end) const;
  template <typename T>
  void CopyRow(const T* source, T* out, const T* filler, std::int64_t from, std::int64_t to) const;

  std::vector<Table> outer_;
  std::vector<Run> runs_;
  std::int64_t row_length_ = 1;
  std::int64_t elements_ = 1;
  std::size_t element_bytes_;
};

// start, start + step, ..., count of them.
TableCopy::Table EvenTable(std::int64_t count, std::int64_t start, std::int64_t step);

}  // namespace millrace
