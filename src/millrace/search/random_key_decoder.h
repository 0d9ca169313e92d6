// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/plan/plan.h"

// How random keys in [0, 1) read as a plan: any keys give a valid one, memory aside, and every plan has keys.
namespace millrace {

// A chromosome has two keys per group. The first num_groups are priorities: the sequence takes, of the groups whose
// predecessors it has, the one of the highest key. The others choose devices: a group's key divides evenly among the
// devices that can run it, in ascending order. Groups that must share a device use the key of the first of them and the
// devices that can run them all.
//
// The priorities are those of list scheduling, the devices an affinity as in Paliwal et al., "Reinforced Genetic
// Algorithm Learning for Optimizing Computation Graphs", ICLR 2020.
class RandomKeyDecoder {
 public:
  explicit RandomKeyDecoder(const CostedGraph& costed);  // must outlive it

  std::size_t keys() const { return 2 * static_cast<std::size_t>(costed_.num_groups); }

  // Into `assignment`, whose storage is reused; allocates nothing once it has its size.
  void Decode(std::span<const double> keys, Assignment& assignment);

  // Keys that decode to the assignment.
  std::vector<double> Encode(const Assignment& assignment) const;

 private:
  std::span<const std::int32_t> DevicesOf(int group) const;

  const CostedGraph& costed_;
  std::vector<std::int32_t> device_offsets_;            // by group
  std::vector<std::int32_t> devices_;                   // that can run the group and all it must share a device with
  std::vector<std::int32_t> chooser_;                   // by group: whose device key counts
  std::vector<std::int32_t> waiting_;                   // by group: predecessors not yet in the sequence
  std::vector<std::pair<double, std::int32_t>> ready_;  // a heap: key, minus group
};

}  // namespace millrace
