// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <vector>

// When one unit is idle: the gaps between what it runs already, and the endless time after its last group. Seconds.
namespace millrace {

// Gaps are kept in time order in small blocks that know their longest gap, so finding a place costs a binary search
// over blocks and a short scan even where tens of thousands of gaps are too short. A group of no length still divides
// the gap it lies in: what is placed later may not run across it, since a unit runs its groups one after the other.
class GapList {
 public:
  void Clear();

  // The earliest start >= ready from which the unit is idle for `seconds`, such that start + seconds as computed does
  // not exceed the gap's end.
  double EarliestFit(double ready, double seconds) const;

  // Takes [start, finish); it must lie in one gap or after end().
  void Occupy(double start, double finish);

  // Finish of the last group in time; 0 without groups.
  double end() const { return end_; }

 private:
  struct Gap {
    double start;
    double finish;
  };
  static constexpr std::size_t kMostGaps = 64;
  struct Block {
    std::size_t count = 0;
    double longest = 0;
    double last_finish = 0;  // of its last gap; kept when the block runs empty, so blocks stay sorted by it
    std::array<Gap, kMostGaps> gaps;

    void Measure();
  };

  std::size_t FirstBlockEndingAfter(double time) const;
  void Append(const Gap& gap);
  void InsertAfter(std::size_t block, std::size_t at, const Gap& gap);

  std::vector<Block> blocks_;
  double end_ = 0;
};

}  // namespace millrace
