// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/plan/plan.h"
#include "millrace/simulate/timeline.h"

// How long the longest path of a plan through some of its groups would be, were they on another device: what a move is
// worth, at a small part of the price of a simulation. A path goes along transfers and along what runs one after the
// other on a device. Everything else keeps its times; each group that moves goes behind what has begun on the new
// device when its inputs are there. Transfers wait for no channel. Seconds. `block_of` is by group.
//
// Source: E. Taillard, "Parallel Taboo Search Techniques for the Job Shop Scheduling Problem", 1994, whose estimate of
// a move this is for groups that move together.
namespace millrace {

class BlockPaths {
 public:
  // The graph must outlive it; the assignment must be valid for it.
  BlockPaths(const CostedGraph& costed, const Assignment& assignment);

  const Timeline& timeline() const { return timeline_; }

  // How much later a group could finish if all others kept their devices and order.
  double Slack(int group) const {
    const auto g = static_cast<std::size_t>(group);
    return std::max(0.0, timeline_.makespan - behind_[g] - timeline_.finish[g]);
  }

  // By block: about what the plan could save at most were the block elsewhere. Over the moments when one of its groups
  // without slack runs, the most of the least slack of what else goes on then, groups and transfers of other blocks: 0
  // where another longest path runs beside all of it. Never above `most`.
  std::vector<double> Room(std::span<const std::int32_t> block_of, int blocks, double most) const;

  // `groups` in the order of the sequence, at least one, which can all run on the device. Not for several threads at
  // once.
  double Longest(std::span<const std::int32_t> groups, int device);

 private:
  // Where a group that moves goes on a unit: between which of those that stay. -1: none.
  struct Neighbours {
    std::int32_t before = -1;
    std::int32_t after = -1;
  };

  Neighbours At(std::int32_t unit, double time) const;

  const CostedGraph& costed_;
  std::vector<int> placement_;
  Timeline timeline_;
  std::vector<double> behind_;                      // by group: the longest path from its finish to the end
  std::vector<std::vector<std::int32_t>> on_unit_;  // groups in their order
  std::vector<char> moves_;                         // by group
  std::vector<double> start_, to_end_;              // by group that moves: earliest start there, path behind it
  std::vector<std::int32_t> after_;                 // by group that moves and unit of the device
};

}  // namespace millrace
