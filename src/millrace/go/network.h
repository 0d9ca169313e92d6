// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "millrace/go/decision_features.h"
#include "millrace/network/sizes.h"
#include "millrace/network/weights.h"
#include "millrace/random/random.h"

// The network of GO's policy, architecture "sage" version "1". GraphSAGE embeds the ops; attention over segments of the
// ops in order, each with the segment before it as memory, embeds them further; then every task has one more attention
// layer and a head. Cost is linear in ops + edges.
//
// Source: Zhou et al., "Transferable Graph Optimizers for ML Compilers" (GO), NeurIPS 2020. Attention with a memory is
// that of Dai et al., "Transformer-XL", 2019, without positions.
//
// NAME x is a linear layer: y = W x + b, W stored (out, in). "*" multiplies element by element. X are the features of
// ops, e of edges, V of devices, G of the whole (go/features.h); D, F, L, priors and centres are what is told of
// decisions (go/decision_features.h). Rows are in the problem's order. The right column has the width of a result.
//   h = relu(input X)                                                                        kWidth
//   for l = 0..kSageLayers-1:
//     f_i = max over predecessors j of relu(sage.l.forward h_j + sage.l.forward.edge e_ij)   kMessage
//     b_i = the same over successors with sage.l.backward; both are 0 without neighbours     kMessage
//     h += relu(sage.l.mix [h, f, b])
//   c = relu(condition.1 relu(condition.0 [mean over rows of h, max over rows of h, G]))     kCondition
//   for l = 0..kSegmentLayers-1: h = layer(h; "layer.l")
//   z = norm(h; norm)
//
// layer(h; N), with segments of kSegment rows, s(i) the segment of row i:
//   a = norm(h; N.norm.0) * (1 + N.super.0 c)
//   q, k, v = N.query a, N.key a, N.value a                                                  kSegmentHeads x kAttention
//   o_i[head] = sum over rows j of segments s(i) - 1 and s(i) of
//                 softmax_j(q_i[head] . k_j[head] / sqrt(kAttention)) v_j[head]
//   h += N.join [o[0], o[1], ..]
//   h += N.out relu(N.first (norm(h; N.norm.1) * (1 + N.super.1 c)))                         kFeedForward between
// norm(x; n) = n.weight * (x - mean x) / sqrt(variance x + 1e-5) + n.bias
// Training takes no gradient through k and v of the segment before: those are the memory.
//
// One iteration decides y[t] given y[t-1]: the tasks k in order of kTasks, without those switched off. u[-1] = z;
//   u[k] = layer(u[k-1] + task.which[:, k] + task.before D(y[t-1]) + task.chosen D(tasks of y[t] before k); "task")
//   placement, of row i on device d:
//     first = place.embed u_i + place.condition c + place.features F_id
//             + place.device.1 relu(place.device.0 V_d)                                      kHidden
//     P_id  = place.out relu(place.hidden relu(first)) + sum_m strength_m prior_m
//     logit of a colocation on d = mean of P_id over its rows; kClosedLogit where it cannot run on d
//   priority, of row i at a level:
//     first = priority.embed u_i + priority.condition c + priority.features L_i              kHidden
//     logit = (priority.out relu(priority.hidden relu(first)))[level] - sum_m strength_m |level - centre_m|
//   fusion: the same with fusion.*
//   strength = exp(clamp(NAME.strength c, -8, 8)), NAME = place, priority, fusion
// A prior of a place below -1e4 counts as that, a centre below 0 counts for nothing, and logits beyond +-1e9 are cut
// off there. Inference is in float32; the order of every sum is fixed. Weights that were fine-tuned add logits that are
// the graph's own (own_logits.h).
//
// P(y[t] | y[t-1]) is the product over colocations of softmax(device logits), over rows of softmax(priority logits) and
// over rows that are GoProblem::fusible of softmax(fusion logits). The fusion level of any other row is 0 and unused.
namespace millrace {

inline constexpr int kSageLayers = 2;
inline constexpr int kSegmentLayers = 2;
inline constexpr int kSegmentHeads = 4;  // x kAttention = kWidth
inline constexpr int kSegment = 128;
inline constexpr float kClosedLogit = -1e9f;

// Strengths that training starts from, by PlacePrior (progress, finish, stay, local share) and by LevelPrior (graph,
// before). The likeliest decisions are the placement by layers: with a weaker progress the others pull single ops off
// it, and plans take a fifth longer.
inline constexpr std::array<double, kPlacePriors> kPlaceStartStrengths = {30, 0.05, 1, 4};
inline constexpr std::array<double, kLevelPriors> kLevelStartStrengths = {2, 0.2};

// The same where the policy moves blocks of a placement (go/moves.h), which is to stay unless there is a reason.
inline constexpr std::array<double, kPlacePriors> kMoveStartStrengths = {0.25, 8, 2, 4};

// Name and shape of every tensor. These layers have a bias: input, sage.l.forward, sage.l.backward, sage.l.mix,
// condition.0, condition.1, N.join, N.first, N.out, all norms, *.embed, *.hidden, *.strength, place.device.0,
// place.device.1, priority.out, fusion.out. place.out has one output, priority.out and fusion.out have kLevels.
std::vector<std::pair<std::string, std::vector<std::int64_t>>> GoShapes();

// Weights that training starts from. *.out of heads, super and strength weights are 0 and norms are 1, so that the
// logits are the priors at the strengths above.
Weights InitialGoWeights(Random& random);

// The same for moves of blocks.
Weights InitialGoMoveWeights(Random& random);

}  // namespace millrace
