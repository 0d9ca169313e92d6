// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "millrace/go/blocks.h"
#include "millrace/go/decision_features.h"
#include "millrace/go/policy.h"
#include "millrace/search/placement_moves.h"
#include "millrace/search/placement_search.h"

// GO's policy improves a placement: y[t] ~ pi(. | graph, y[t-1]) once more, but decided in blocks (go/blocks.h), as
// proposals to a search (search/placement_search.h), which is cheap beside the policy.
//
// Choices that are good alone may be bad together, and what helps in the end may harm at first; so the policy says what
// to try, and an annealing what to keep. Sources: the iterative decision of Zhou et al., "Transferable Graph
// Optimizers for ML Compilers", NeurIPS 2020; a policy that proposes to a search, Paliwal et al., "Reinforced Genetic
// Algorithm Learning for Optimizing Computation Graphs", ICLR 2020.
namespace millrace {

// One block to another device.
struct GoMove {
  std::int32_t block = 0;
  int device = 0;
  double sureness = 0;  // its logit above that of staying; below 0 it would rather stay
};

// The logits of blocks, blocks x devices: means over the rows of their colocations.
std::vector<double> BlockLogits(const GoProblem& problem, const GoBlocks& blocks, std::span<const float> logits);

// Every block to the likeliest of the other devices, the surest first. `logits` of BlockLogits. At a temperature above
// 0 devices and order are drawn.
std::vector<GoMove> MovesOf(const GoProblem& problem, const GoBlocks& blocks, std::span<const double> logits,
                            std::span<const std::int32_t> device_of, double softmax_temperature, Random& random);

struct GoMoveOptions {
  std::vector<int> fewest_blocks = {32, 128, 0};  // levels, as for MakeGoBlocks
  double softmax_temperature = 0.15;              // of what is proposed; 0: the likeliest devices
  int threads = 1;                                // of the policy
};

// Looks at the blocks of one level after the other. Problem, groups and policy must outlive it.
class GoMoveProposer final : public MoveProposer {
 public:
  GoMoveProposer(const GoProblem& problem, const CostedGraph& fused, const PreparedGoPolicy& policy,
                 const GoMoveOptions& options);

  std::vector<PlacementMove> Propose(const Assignment& plan, Random& random) override;

 private:
  struct Level {
    GoBlocks blocks;
    std::vector<std::vector<std::int32_t>> groups;  // by block
  };

  const GoProblem& problem_;
  const CostedGraph& fused_;
  double softmax_temperature_;
  GoPass pass_;
  std::vector<Level> levels_;
  std::size_t next_level_ = 0;
  DecisionObservation observation_;
};

// Of a search that asks it so often. Its temperatures are higher than usual: what is proposed is seldom of no use.
PlacementSearchOptions SearchWithGo(GoMoveProposer& proposer, int looks);

}  // namespace millrace
