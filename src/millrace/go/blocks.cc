// SPDX-License-Identifier: Apache-2.0
#include "millrace/go/blocks.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "millrace/graph/index.h"
#include "millrace/heuristics/cluster_levels.h"

namespace millrace {
namespace {

GoBlocks BlocksOf(const GoProblem& problem, const CostedGraph& costed, const ClusterLevel& level) {
  GoBlocks blocks;
  blocks.block_of.assign(Index(problem.num_colocations()), 0);
  for (std::int32_t group = 0; group < costed.num_groups; ++group) {
    for (const OpId op : costed.groups[Index(group)])
      blocks.block_of[Index(problem.ColocationOf(problem.RowOf(op)))] = level.cluster_of[Index(group)];
  }
  blocks.offsets.assign(Index(level.num_clusters()) + 1, 0);
  for (const std::int32_t block : blocks.block_of) ++blocks.offsets[Index(block) + 1];
  for (std::size_t block = 0; block + 1 < blocks.offsets.size(); ++block)
    blocks.offsets[block + 1] += blocks.offsets[block];
  std::vector<std::int32_t> next(blocks.offsets.begin(), blocks.offsets.end() - 1);
  blocks.colocations.resize(blocks.block_of.size());
  for (std::size_t colocation = 0; colocation < blocks.block_of.size(); ++colocation)
    blocks.colocations[Index(next[Index(blocks.block_of[colocation])]++)] = static_cast<std::int32_t>(colocation);
  return blocks;
}

}  // namespace

std::vector<GoBlocks> MakeGoBlocks(const GoProblem& problem, const CostedGraph& costed, std::span<const int> fewest) {
  constexpr int kCoarsest = 2;
  const std::vector<ClusterLevel> levels = MakeClusterLevels(costed, kCoarsest);
  std::vector<std::size_t> chosen;
  for (const int least : fewest) {
    std::size_t level = 0;
    while (least > 0 && level + 1 < levels.size() && levels[level + 1].num_clusters() >= least) ++level;
    if (std::find(chosen.begin(), chosen.end(), level) == chosen.end()) chosen.push_back(level);
  }
  std::vector<GoBlocks> all;
  all.reserve(chosen.size());
  for (const std::size_t level : chosen) all.push_back(BlocksOf(problem, costed, levels[level]));
  return all;
}

std::vector<std::vector<std::int32_t>> GroupsByBlock(const GoProblem& problem, const CostedGraph& costed,
                                                     const GoBlocks& blocks) {
  std::vector<std::vector<std::int32_t>> groups(Index(blocks.count()));
  for (std::int32_t group = 0; group < costed.num_groups; ++group) {
    const std::int32_t row = problem.RowOf(costed.groups[Index(group)].front());
    groups[Index(blocks.block_of[Index(problem.ColocationOf(row))])].push_back(group);
  }
  return groups;
}

void PlaceBlock(const GoProblem& problem, const GoBlocks& blocks, std::int32_t block, int device,
                std::vector<std::int32_t>& device_of) {
  for (const std::int32_t colocation : blocks.ColocationsOf(block)) {
    if (std::isfinite(problem.Seconds(problem.RowsOf(colocation).front(), device)))
      device_of[Index(colocation)] = device;
  }
}

std::vector<int> DevicesOfBlocks(const GoProblem& problem, const GoBlocks& blocks,
                                 std::span<const std::int32_t> device_of) {
  std::vector<int> devices;
  devices.reserve(Index(blocks.count()));
  std::vector<double> work(Index(problem.num_devices()));
  for (std::int32_t block = 0; block < blocks.count(); ++block) {
    std::fill(work.begin(), work.end(), -1.0);
    for (const std::int32_t colocation : blocks.ColocationsOf(block)) {
      double& there = work[Index(device_of[Index(colocation)])];
      there = std::max(there, 0.0);
      for (const std::int32_t row : problem.RowsOf(colocation))
        there += problem.mean_seconds()[Index(problem.order()[Index(row)])];
    }
    devices.push_back(static_cast<int>(std::max_element(work.begin(), work.end()) - work.begin()));
  }
  return devices;
}

}  // namespace millrace
