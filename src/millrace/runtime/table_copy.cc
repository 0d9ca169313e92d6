// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/table_copy.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace millrace {
namespace {

bool Even(const TableCopy::Table& table, std::int64_t& step) {
  step = table.size() > 1 ? table[1] - table[0] : 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i] < 0 || table[i] != table[0] + static_cast<std::int64_t>(i) * step) return false;
  }
  return true;
}

// Two dimensions that advance as one are one.
bool Merge(const TableCopy::Table& outer, TableCopy::Table& inner) {
  std::int64_t outer_step = 0, inner_step = 0;
  if (!Even(outer, outer_step) || !Even(inner, inner_step)) return false;
  const auto length = static_cast<std::int64_t>(inner.size());
  if (outer.size() > 1 && inner.size() > 1 && outer_step != inner_step * length) return false;
  const std::int64_t step = inner.size() > 1 ? inner_step : outer_step;
  inner = EvenTable(static_cast<std::int64_t>(outer.size()) * length, outer[0] + inner[0], step);
  return true;
}

}  // namespace

TableCopy::Table EvenTable(std::int64_t count, std::int64_t start, std::int64_t step) {
  TableCopy::Table table(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) table[static_cast<std::size_t>(i)] = start + i * step;
  return table;
}

TableCopy::TableCopy(std::vector<Table> tables, std::size_t element_bytes) : element_bytes_(element_bytes) {
  for (const Table& table : tables) elements_ *= static_cast<std::int64_t>(table.size());
  if (elements_ == 0) return;
  for (Table& table : tables) {
    if (!outer_.empty() && Merge(outer_.back(), table)) outer_.pop_back();
    outer_.push_back(std::move(table));
  }
  Table row = {0};
  if (!outer_.empty()) {
    row = std::move(outer_.back());
    outer_.pop_back();
  }
  row_length_ = static_cast<std::int64_t>(row.size());
  for (std::int64_t i = 0; i < row_length_; ++i) {
    const std::int64_t offset = row[static_cast<std::size_t>(i)];
    const bool fills = offset < 0;
    if (!runs_.empty()) {
      Run& last = runs_.back();
      if (fills && last.fills) {
        ++last.count;
        continue;
      }
      if (!fills && !last.fills) {
        const std::int64_t step = offset - (last.offset + (last.count - 1) * last.step);
        if (last.count == 1 || step == last.step) {
          last.step = step;
          ++last.count;
          continue;
        }
      }
    }
    runs_.push_back({i, 1, offset, 0, fills});
  }
}

template <typename T>
void TableCopy::CopyRow(const T* source, T* out, const T* filler, std::int64_t from, std::int64_t to) const {
  auto run = std::upper_bound(runs_.begin(), runs_.end(), from,
                              [](std::int64_t column, const Run& candidate) { return column < candidate.first; });
  --run;
  for (std::int64_t column = from; column < to; ++run) {
    const std::int64_t length = std::min(run->first + run->count, to) - column;
    if (run->fills) {
      std::fill_n(out, length, *filler);
    } else {
      const T* at = source + run->offset + (column - run->first) * run->step;
      if (run->step == 1 || run->count == 1) {
        std::memcpy(out, at, static_cast<std::size_t>(length) * sizeof(T));
      } else {
        for (std::int64_t i = 0; i < length; ++i) out[i] = at[i * run->step];
      }
    }
    out += length;
    column += length;
  }
}

template <typename T>
void TableCopy::CopyAs(const T* source, T* out, const T* filler, std::int64_t begin, std::int64_t end) const {
  std::int64_t row = begin / row_length_, column = begin % row_length_;
  for (std::int64_t at = begin; at < end; ++row) {
    const std::int64_t length = std::min(row_length_ - column, end - at);
    std::int64_t offset = 0, rest = row;
    bool fills = false;
    for (std::size_t d = outer_.size(); d-- > 0;) {
      const auto size = static_cast<std::int64_t>(outer_[d].size());
      const std::int64_t entry = outer_[d][static_cast<std::size_t>(rest % size)];
      fills = fills || entry < 0;
      offset += entry;
      rest /= size;
    }
    if (fills) {
      std::fill_n(out + at, length, *filler);
    } else {
      CopyRow(source + offset, out + at, filler, column, column + length);
    }
    at += length;
    column = 0;
  }
}

void TableCopy::Copy(const std::byte* source, std::byte* out, const std::byte* filler, std::int64_t begin,
                     std::int64_t end) const {
  if (begin >= end) return;
  const auto copy = [&]<typename T>(T*) {
    CopyAs(reinterpret_cast<const T*>(source), reinterpret_cast<T*>(out), reinterpret_cast<const T*>(filler), begin,
           end);
  };
  switch (element_bytes_) {
    case 1:
      return copy(static_cast<std::uint8_t*>(nullptr));
    case 2:
      return copy(static_cast<std::uint16_t*>(nullptr));
    case 4:
      return copy(static_cast<std::uint32_t*>(nullptr));
    default:
      return copy(static_cast<std::uint64_t*>(nullptr));
  }
}

}  // namespace millrace
