// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

// Which amounts of work can be made of some groups. Seconds.
namespace millrace {

// The sums of all subsets of some numbers, as the sums of two halves: a question takes as many steps as a half has sums
// (Horowitz and Sahni, "Computing partitions with applications to the knapsack problem", 1974). Keeps its workspace.
class SubsetSums {
 public:
  static constexpr std::size_t kMost = 24;

  // Of at most kMost numbers.
  void Set(const std::vector<double>& numbers) {
    Fill(numbers, 0, numbers.size() / 2, one_);
    Fill(numbers, numbers.size() / 2, numbers.size(), other_);
  }

  // Is there a subset whose sum lies from low to high, both included?
  bool AnyWithin(double low, double high) const {
    auto at = other_.rbegin();
    for (const double sum : one_) {
      while (at != other_.rend() && sum + *at > high) ++at;
      if (at == other_.rend()) return false;
      if (sum + *at >= low) return true;
    }
    return false;
  }

 private:
  // Ascending: the sums without a number merged with those that have it.
  void Fill(const std::vector<double>& numbers, std::size_t begin, std::size_t end, std::vector<double>& sums) {
    sums.assign(1, 0.0);
    for (std::size_t i = begin; i < end; ++i) {
      with_.resize(sums.size());
      std::transform(sums.begin(), sums.end(), with_.begin(), [&](double sum) { return sum + numbers[i]; });
      merged_.resize(2 * sums.size());
      std::merge(sums.begin(), sums.end(), with_.begin(), with_.end(), merged_.begin());
      sums.swap(merged_);
    }
  }

  std::vector<double> one_;
  std::vector<double> other_;
  std::vector<double> with_;
  std::vector<double> merged_;
};

}  // namespace millrace
