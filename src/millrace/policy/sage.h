// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "millrace/env/decision_features.h"
#include "millrace/policy/message_passing.h"
#include "millrace/policy/topoformer.h"
#include "millrace/policy/weights.h"
#include "millrace/random/random.h"

// The one-shot policy's network, architecture "sage" version "1": GraphSAGE, then attention over segments of the ops in
// order, which hand on a memory; then, task by task, one more attention layer and a head. Cost is linear in ops +
// edges. Source: Zhou et al., "Transferable Graph Optimizers for ML Compilers" (GO), NeurIPS 2020; attention with a
// memory is that of Dai et al., "Transformer-XL", 2019, without positions.
//
// y = W x + b, W stored (out, in); relu everywhere. X ops, e edges, V devices, G globals: env/one_shot_features.h; rows
// in the problem's order. D, F, L, priors, centres: env/decision_features.h. "*" multiplies element by element.
//   h = relu(input X)                                                                        kWidth
//   for l = 0..kSageLayers-1:
//     f_i = max over predecessors j of relu(sage.l.forward h_j + sage.l.forward.edge e_ij), 0 without; b_i the same
//     over successors with sage.l.backward                                                   kMessage
//     h += relu(sage.l.mix [h, f, b])
//   c = relu(condition.1 relu(condition.0 [mean over rows of h, max over rows of h, G]))     kCondition
//   for l = 0..kSegmentLayers-1: h = layer(h; "layer.l")
//   z = norm(h; norm)
// layer(h; N): with segments of kSegment rows, s(i) the segment of row i
//     a = norm(h; N.norm.0) * (1 + N.super.0 c);  q, k, v = N.query a, N.key a, N.value a    kSegmentHeads x kAttention
//     o_i[head] = sum over rows j of segments s(i) - 1 and s(i) of
//       softmax_j(q_i[head] . k_j[head] / sqrt(kAttention)) v_j[head]
//     h += N.join [o[0], o[1], ..]
//     h += N.out relu(N.first (norm(h; N.norm.1) * (1 + N.super.1 c)))                       kFeedForward between
//   norm(x; n) = n.weight * (x - mean x) / sqrt(variance x + 1e-5) + n.bias
//   Training takes no gradient of a row's states through k and v of the segment before: those are the memory.
//
// One iteration decides y[t] given y[t-1], tasks k in order of kTasks, those switched off left out. u[-1] = z;
//   u[k] = layer(u[k-1] + task.which (column k) + task.before D(y[t-1]) + task.chosen D(tasks of y[t] before k);
//   "task") placement, of row i on device d: first = place.embed u_i + place.condition c + place.device.1
//   relu(place.device.0
//     V_d) + place.features F_id;  P_id = place.out relu(place.hidden relu(first)) + sum_k strength_k prior_k
//     logit of a tie on d: mean of P_id over its rows; kClosedLogit where it cannot run on d
//   priority, of row i: logits = priority.out relu(priority.hidden relu(priority.embed u_i + priority.condition c +
//     priority.features L_i)) - strength_0 |level - centre_0| - strength_1 |level - centre_1|
//   fusion: the same with fusion.*
//   strength = exp(clamp(NAME.strength c, -8, 8)), NAME = place, priority, fusion
// Logits beyond +-1e9 are cut off there. Inference is in float32; the order of every sum is fixed.
//
// P(y[t] | y[t-1]) is the product over ties of softmax(device logits) and over rows of softmax(priority logits); of
// fusion over rows that are OneShotProblem::fusible only. Other rows' fusion levels are 0 and mean nothing.
namespace millrace {

inline constexpr int kSageLayers = 2;
inline constexpr int kSegmentLayers = 2;
inline constexpr int kSegmentHeads = 4;  // x kAttention = kWidth
inline constexpr int kSegment = 128;
inline constexpr float kClosedLogit = -1e9f;

// Strengths of the priors that training starts from.
inline constexpr std::array<double, kPlacePriors> kPlaceStartStrengths = {8, 1, 1, 4};
inline constexpr std::array<double, kLevelPriors> kLevelStartStrengths = {0.5, 0.2};

// Name and shape of every tensor. These have a bias: input, sage.l.forward, sage.l.backward, sage.l.mix, condition.0,
// condition.1, N.join, N.first, N.out, all norms, *.embed, *.hidden, *.strength, place.device.0 and .1, priority.out,
// fusion.out. place.out has one output, priority.out and fusion.out kLevels.
std::vector<std::pair<std::string, std::vector<std::int64_t>>> SageShapes();

// As training starts: the logits are the priors at the strengths above. Norms start at 1; *.out of heads and super at
// 0, strength weights too.
Weights InitialSageWeights(Random& random);

}  // namespace millrace
