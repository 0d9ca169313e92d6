// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/go/decisions.h"
#include "millrace/go/problem.h"

// Colocations of a problem that move together when GO's policy improves a placement: a good one is hardly ever found by
// moving one op at a time, as each such move only adds transfers. Blocks are the clusters of
// heuristics/cluster_levels.h of fused groups, so that a move never cuts a group.
namespace millrace {

// One partition of all colocations of a problem.
struct GoBlocks {
  std::vector<std::int32_t> block_of;     // by colocation
  std::vector<std::int32_t> offsets;      // by block, into colocations; one more at the end
  std::vector<std::int32_t> colocations;  // ascending within a block

  int count() const { return static_cast<int>(offsets.size()) - 1; }
  std::span<const std::int32_t> ColocationsOf(std::int32_t block) const {
    const auto begin = static_cast<std::size_t>(offsets[static_cast<std::size_t>(block)]);
    const auto end = static_cast<std::size_t>(offsets[static_cast<std::size_t>(block) + 1]);
    return std::span(colocations).subspan(begin, end - begin);
  }
};

// For each of `fewest` the blocks of the coarsest level that has at least so many; 0: the finest level, where a block
// is a fused group, or groups that must share a device. Levels that come to the same are there once, in order of first
// mention. `costed` has fused groups of the problem's ops.
std::vector<GoBlocks> MakeGoBlocks(const GoProblem& problem, const CostedGraph& costed, std::span<const int> fewest);

// By block: its groups of fused ops, ascending. `costed` is that of MakeGoBlocks.
std::vector<std::vector<std::int32_t>> GroupsByBlock(const GoProblem& problem, const CostedGraph& costed,
                                                     const GoBlocks& blocks);

// Puts a block on a device, but for colocations that cannot run there.
void PlaceBlock(const GoProblem& problem, const GoBlocks& blocks, std::int32_t block, int device,
                std::vector<std::int32_t>& device_of);

// By block: the device of most of its work, by the mean seconds of its ops; of equal ones the first.
std::vector<int> DevicesOfBlocks(const GoProblem& problem, const GoBlocks& blocks,
                                 std::span<const std::int32_t> device_of);

}  // namespace millrace
