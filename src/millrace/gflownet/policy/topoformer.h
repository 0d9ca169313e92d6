// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/gflownet/policy/policy.h"
#include "millrace/network/sizes.h"
#include "millrace/network/weights.h"
#include "millrace/random/random.h"

// The Topoformer (Gagrani et al., "Neural Topological Ordering for Computation Graphs", NeurIPS 2022): attention where
// each head sees the pairs of groups of one relation (group_relations.h). Architecture "topoformer" version "1". The
// metadata "encodes" says what is embedded:
//   "graph"  every group once, before any step; the heads of message_passing.h score from that.
//   "state"  everything again at every step, from graph, placements and times, as Zhang et al. (2023) do.
//
// NAME x, c, N, e and D are as in message_passing.h; e_ij is the feature of the edge between i and j, in either
// direction. S and T are the features of groups and devices in a state (state_features.h). There are R = 7 relations
// for "graph" and two more for "state": 7, j is right before i on a chain, and 8, right behind it.
//   p_d = relu(place.1 relu(place.0 [D_d, T_d])), of device d; "state" only                    kHidden
//   h_i = relu(input N_i)                                                                      kWidth; "graph"
//   h_i = relu(input N_i + input.state S_i + (input.place p_d if i is placed on d))            kWidth; "state"
//   for l = 0..kTopoformerLayers-1:
//     a = norm(h; layer.l.norm.0)
//     q, k, v = layer.l.query a, layer.l.key a, layer.l.value a                                R x kAttention
//     for every relation r, over all j that have it to i:
//       s_j    = q_i[r] . k_j[r] / sqrt(kAttention), for r = 0..3 plus layer.l.edge[r] * e_ij
//       o_i[r] = sum over j of softmax(s)_j v_j[r]; 0 where no j has it
//     h += layer.l.join [o[0], o[1], ..]
//     z  = layer.l.first norm(h; layer.l.norm.1)                                               kFeedForward
//     h += layer.l.out relu(z * (1 + layer.l.scale c) + layer.l.shift c)
//   h = norm(h; norm)
//   norm(x; n) = n.weight * (x - mean x) / sqrt(variance x + 1e-5) + n.bias
//
// The heads of "state" score (group i, device d) jointly. f and priors are those of ObserveDevices for the group.
// C are the completions of the choice (completions.h), n is the number of groups and T the reward temperature.
//   first   = joint.embed h_i + joint.condition c + joint.place p_d + joint.features f + joint.completions C   kHidden
//   J(i, d) = joint.out (gain * relu(joint.hidden relu(first))) + sum_m strength_m prior_m
//             + n / T sum_m strength_m C_m, here with the strengths of completion.strength: a share of the log reward
//             of the plans that the choice leads to if rules finish them
//   gain, strength = exp(clamp(joint.gain c, -8, 8)), exp(clamp(joint.strength c, -8, 8)): what a choice costs counts
//                    the more, the lower the reward temperature is
//   device logit = J(i, d)
//   group logit  = log sum over d of exp J(i, d) + sum_m strength_m prior_m, here with the priors of ObserveGroups and
//                  the strengths of group.strength
// A backward policy of its own (metadata "backward": "learned") is one more head, for every removable group i on d:
//   first = backward.embed h_i + backward.condition c + backward.place p_d                     kHidden
//   logit = backward.out relu(backward.hidden relu(first))
//
// Time and memory grow with the square of the number of groups, so that there is a limit.
namespace millrace {

inline constexpr int kTopoformerLayers = 2;
inline constexpr int kRelations = 7;
inline constexpr int kDirectRelations = 4;  // the first ones: those with an edge
inline constexpr int kChainRelations = 2;
inline constexpr int kMostTopoformerGroups = 2000;

enum class Encodes { kGraph, kState };
enum class Backward { kUniform, kLearned };  // P_B; only with "state" can it be learned

// Name and shape of every tensor. These layers have a bias: condition.0, condition.1, input, layer.l.join,
// layer.l.first, layer.l.out, all norms, place.0, place.1, and of the heads *.embed, *.hidden, *.strength,
// device.device.0 and device.device.1. The edge weights are one tensor, layer.l.edge.weight of shape (4).
std::vector<std::pair<std::string, std::vector<std::int64_t>>> TopoformerShapes(Encodes encodes,
                                                                                Backward backward = Backward::kUniform);

// Random weights that training starts from, as InitialMessagePassingWeights: the logits are the priors. Norms are 1,
// edge weights 0, and layers that lead to no relu have half the variance. P_B starts uniform. Throws InvalidInput for a
// learned P_B with Encodes::kGraph.
Weights InitialTopoformerWeights(Encodes encodes, Random& random, Backward backward = Backward::kUniform);

// The P_B that the weights of a Topoformer are for. Throws InvalidInput where their metadata name an unknown one.
Backward BackwardOf(const Weights& weights);

// Throws InvalidInput for weights of another architecture, version or shape. Prepare of the policy refuses graphs of
// more than kMostTopoformerGroups groups.
std::unique_ptr<Policy> MakeTopoformerPolicy(const Weights& weights);

}  // namespace millrace
