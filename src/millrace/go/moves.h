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

// GO's policy improves a placement: y[t] ~ pi(. | graph, y[t-1]) once more, but decided in blocks (go/blocks.h), as
// proposals to an annealing by the proxy, which is cheap beside the policy. Seconds.
//
// Choices that are good alone may be bad together, and what helps in the end may harm at first; so the policy says what
// to try, and the annealing what to keep. Sources: the iterative decision of Zhou et al., "Transferable Graph
// Optimizers for ML Compilers", NeurIPS 2020; a policy that proposes to a search, Paliwal et al., "Reinforced Genetic
// Algorithm Learning for Optimizing Computation Graphs", ICLR 2020.
namespace millrace {

struct GoMoveOptions {
  int looks = 40;                                 // of the policy, each at the blocks of one level in turn
  int tries = 50;                                 // moves tried between two looks
  double proposed = 0.5;                          // share of them that the policy proposes; others are by chance
  std::vector<int> fewest_blocks = {32, 128, 0};  // levels, as for MakeGoBlocks
  double first_temperature = 0.006;               // of the annealing, as shares of the plan's time
  double last_temperature = 0.0003;
  double softmax_temperature = 0.15;                  // of what the policy proposes; 0: the likeliest devices
  int threads = 1;                                    // of the policy
  std::function<bool()> stop = [] { return false; };  // asked before each try
};

// The temperature of the annealing as a share of the plan's time, once so much of it is done; it falls geometrically.
double TemperatureShare(const GoMoveOptions& options, double done);

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

// Decisions and how long their plan takes.
struct JudgedDecisions {
  Decisions decisions;
  double seconds = 0;
};

// How moves are tried.
struct MoveTrials {
  int tries = 50;
  double proposed = 0.5;   // share that is taken from the moves proposed, in their order, while there are any
  double temperature = 0;  // seconds; a plan longer by so much is kept with probability 1/e
};

// Tries moves one after the other: those proposed, of blocks of level `level`, and any block of any level to any
// device. Each is kept if the plan is no longer, or by chance. `judge` says how long a plan takes, infinity where it
// does not fit. `stop` is asked before each. Throws Interrupted.
JudgedDecisions TryMoves(const GoProblem& problem, std::span<const GoBlocks> levels, std::size_t level,
                         std::span<const GoMove> moves, const MoveTrials& trials, JudgedDecisions from,
                         const std::function<double(const Decisions&)>& judge, const std::function<bool()>& stop,
                         Random& random);

// Improves decisions that have a placement. Their fusion stays, and their order is the better of theirs and that by
// urgency. Calls offer(decisions, plan) for the start and for every plan that is faster by the proxy than all before
// it. Throws Interrupted.
void ImproveByMoves(const GoDecoder& decoder, const PreparedGoPolicy& policy, const Decisions& start,
                    const GoMoveOptions& options, Random& random,
                    const std::function<void(const Decisions&, DecodedPlan)>& offer);

}  // namespace millrace
