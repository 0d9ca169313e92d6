// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/plan/plan.h"

// Sets of plans. Two plans whose chains are the same up to a renaming of identical devices count as one.
namespace millrace {

// By device: the lowest-numbered device it can be exchanged for without changing any cost. Devices are identical where
// each has one unit that no other device uses, every group takes equally long on both, and every link of one is like
// that of the other.
std::vector<std::int32_t> IdenticalDevices(const CostedGraph& costed);

// Remembers plans of one costed graph, which must outlive it, by a 128-bit digest. The chance that some two different
// plans are taken for one is about count^2 / 2^129.
class PlanSet {
 public:
  explicit PlanSet(const CostedGraph& costed);

  // Adds the plan. True if no plan like it was there before. O(groups).
  bool Insert(const Assignment& assignment);

  std::size_t size() const { return seen_.size(); }

 private:
  std::pair<std::uint64_t, std::uint64_t> Digest(const Assignment& assignment) const;

  const CostedGraph& costed_;
  std::vector<std::int32_t> identical_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen_;
};

}  // namespace millrace
