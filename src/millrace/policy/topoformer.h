// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/policy/policy.h"
#include "millrace/policy/weights.h"
#include "millrace/random/random.h"

// The Topoformer (Gagrani et al., "Neural Topological Ordering for Computation Graphs", NeurIPS 2022): attention whose
// heads each see the pairs of groups of one relation (group_relations.h). Architecture "topoformer" version "1"; the
// metadata "encodes" says what is embedded:
//   "graph"  every group once, before any step; the heads of message_passing.h score from that.
//   "state"  everything again at every step, from graph, placements and times, as Zhang et al. (2023) do.
//
// y = W x + b; relu everywhere; c the condition, N nodes, e edges, D devices, all as in message_passing.h. R = 7
// relations for "graph"; for "state" two more, 7: j stands right before i on a chain, 8: right behind it. S and T are
// the features of groups and devices in a state (state_features.h).
//   place of device d: p_d = relu(place.1 relu(place.0 [D_d, T_d]))                            kHidden; "state" only
//   h = relu(input N)                                                                          kWidth
//     "state": h_i = relu(input N_i + input.state S_i + (input.place p_d if i is placed on d))
//   for l = 0..kTopoformerLayers-1:
//     a = norm(h; layer.l.norm.0)
//     q, k, v = layer.l.query a, layer.l.key a, layer.l.value a                                R x kAttention
//     for every relation r and all j that i has it to:
//       s_j = q_i[r] . k_j[r] / sqrt(kAttention), and + layer.l.edge[r] * e_ij for r = 0..3;   0 where j is none
//       o_i[r] = sum of softmax(s)_j v_j[r]
//     h += layer.l.join [o[0], o[1], ..]
//     h += layer.l.out relu(z * (1 + layer.l.scale c) + layer.l.shift c), z = layer.l.first norm(h; layer.l.norm.1)
//   h = norm(h; norm)
//   norm(x; n) = n.weight * (x - mean x) / sqrt(variance x + 1e-5) + n.bias
//
// e_ij is the feature of the edge between i and j, whichever way it goes.
//
// Heads of "state", jointly for (group, device): f and priors are those of ObserveDevices for the group,
//   first = joint.embed h_group + joint.condition c + joint.place p_device + joint.features f
//   J(group, device) = joint.out relu(joint.hidden relu(first)) + sum_k strength_k prior_k,
//     strength = exp(clamp(joint.strength c, -8, 8))
//   device logit = J; group logit = log sum over the group's devices of exp J, and its own priors with the strengths of
//   group.strength.
// With a backward policy of its own (metadata "backward": "learned"), one more head, for every removable group:
//   first = backward.embed h_group + backward.condition c + backward.place p_device, of the device it is placed on
//   logit = backward.out relu(backward.hidden relu(first))
//
// Time and memory go with the square of the groups, so that there is a limit.
namespace millrace {

inline constexpr int kTopoformerLayers = 2;
inline constexpr int kRelations = 7;
inline constexpr int kDirectRelations = 4;  // the first ones: those with an edge
inline constexpr int kChainRelations = 2;
inline constexpr int kAttention = 16;
inline constexpr int kFeedForward = 128;
inline constexpr int kMostTopoformerGroups = 2000;

enum class Encodes { kGraph, kState };
enum class Backward { kUniform, kLearned };  // P_B; learned where states are encoded alone

// Name and shape of every tensor. These have a bias: condition.0, condition.1, input, layer.l.join, layer.l.first,
// layer.l.out, all norms, place.0, place.1, and of the heads *.embed, *.hidden, *.strength, device.device.0 and .1. The
// edge weights are one tensor, layer.l.edge.weight of shape (4).
std::vector<std::pair<std::string, std::vector<std::int64_t>>> TopoformerShapes(Encodes encodes,
                                                                                Backward backward = Backward::kUniform);

// As training starts: as InitialMessagePassingWeights, so that the logits are the heuristic prior; norms at 1, edge
// weights at 0; layers that lead to no relu at half the variance. P_B is uniform at first. Throws InvalidInput for a
// learned one where the graph is encoded.
Weights InitialTopoformerWeights(Encodes encodes, Random& random, Backward backward = Backward::kUniform);

// Which of the two the weights of a topoformer are for. Throws InvalidInput where their metadata says something else.
Backward BackwardOf(const Weights& weights);

// Throws InvalidInput for weights of another architecture, version or shape. What it makes refuses, at Prepare, graphs
// of more than kMostTopoformerGroups groups.
std::unique_ptr<Policy> MakeTopoformerPolicy(const Weights& weights);

}  // namespace millrace
