// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

// Positions of a sequence that wait for something, taken in order.
namespace millrace {

// Empty when made. Adding and taking allocate nothing.
class PositionSet {
 public:
  explicit PositionSet(int positions) : words_(static_cast<std::size_t>(positions / kBits + 1)) {}

  bool empty() const { return count_ == 0; }

  void Clear() {
    std::fill(words_.begin(), words_.end(), std::uint64_t{0});
    count_ = 0;
  }

  void Add(int position) {
    std::uint64_t& word = words_[static_cast<std::size_t>(position / kBits)];
    const std::uint64_t bit = std::uint64_t{1} << (position % kBits);
    count_ += (word & bit) == 0 ? 1 : 0;
    word |= bit;
  }

  // Takes out the first position at or after `from`; there must be one.
  int TakeFirst(int from) {
    auto at = static_cast<std::size_t>(from / kBits);
    std::uint64_t word = words_[at] & (~std::uint64_t{0} << (from % kBits));
    while (word == 0) word = words_[++at];
    return Take(at, std::countr_zero(word));
  }

  // Takes out the last position at or before `from`; there must be one.
  int TakeLast(int from) {
    auto at = static_cast<std::size_t>(from / kBits);
    std::uint64_t word = words_[at] & (~std::uint64_t{0} >> (kBits - 1 - from % kBits));
    while (word == 0) word = words_[--at];
    return Take(at, kBits - 1 - std::countl_zero(word));
  }

 private:
  static constexpr int kBits = 64;

  int Take(std::size_t at, int bit) {
    words_[at] &= ~(std::uint64_t{1} << bit);
    --count_;
    return static_cast<int>(at) * kBits + bit;
  }

  std::vector<std::uint64_t> words_;
  int count_ = 0;
};

}  // namespace millrace
