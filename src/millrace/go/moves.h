// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "millrace/go/blocks.h"
#include "millrace/go/decisions.h"
#include "millrace/go/decoder.h"
#include "millrace/go/policy.h"
#include "millrace/random/random.h"

// GO's policy improves a placement: y[t] ~ pi(. | graph, y[t-1]) once more, but decided in blocks (go/blocks.h), of
// which the surest are moved as far as that makes the plan faster. Seconds.
//
// Choices of one iteration are independent of each other, so two that are good alone may be bad together. The proxy,
// which is cheap beside the policy, says which of them to make. Its source is the iterative decision of Zhou et al.,
// "Transferable Graph Optimizers for ML Compilers", NeurIPS 2020; the surest first is how Ghazvininejad et al.,
// "Mask-Predict", 2019, decode what is decided at once.
namespace millrace {

struct GoMoveOptions {
  int iterations = 16;                                // looks of the policy, each at the blocks of one level in turn
  std::vector<int> fewest_blocks = {32, 128, 0};      // levels, as for MakeGoBlocks
  double freely = 0.6;                                // share of the looks whose moves are made whatever comes of them
  double first_share = 0.5;                           // of the moves of such a look, the surest; falls to none
  int tries = 24;                                     // of the surest moves of another look, one by one
  double softmax_temperature = 0;                     // of what is drawn; 0: the likeliest devices
  int threads = 1;                                    // of the policy
  std::function<bool()> stop = [] { return false; };  // asked before each look
};

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

// Makes a share of the moves that would rather not stay, the surest, rounded up.
void MakeShare(const GoProblem& problem, const GoBlocks& blocks, std::span<const GoMove> moves, double share,
               Decisions& decisions);

// Decisions and how long their plan takes.
struct JudgedDecisions {
  Decisions decisions;
  double seconds = 0;
};

// Makes the first 1, 2, 4, .. of the moves that would rather not stay, as long as there are more, and keeps what is
// fastest; then tries `tries` moves one by one and keeps each that makes the plan faster. `judge` says how long a plan
// takes, infinity where it does not fit; it is called as often as is added to `judged`.
JudgedDecisions MakeMoves(const GoProblem& problem, const GoBlocks& blocks, std::span<const GoMove> moves, int tries,
                          JudgedDecisions from, const std::function<double(const Decisions&)>& judge,
                          std::int64_t& judged);

// Improves decisions that have a placement. Their fusion stays, and their order is the better of theirs and that by
// urgency. Calls offer(decisions, plan) for the start and for every plan that is faster by the proxy than all before
// it. Ends where the likeliest moves of no level help. Throws Interrupted.
void ImproveByMoves(const GoDecoder& decoder, const PreparedGoPolicy& policy, const Decisions& start,
                    const GoMoveOptions& options, Random& random,
                    const std::function<void(const Decisions&, DecodedPlan)>& offer);

}  // namespace millrace
