// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/gflownet/environment/observation.h"
#include "millrace/gflownet/policy/policy.h"
#include "millrace/network/sizes.h"
#include "millrace/network/weights.h"
#include "millrace/random/random.h"

// The shipped sampler's network, architecture "mpnn" version "1". Bidirectional message passing embeds the groups once
// per graph and reward temperature. Every step scores its choices from these embeddings and the step's features by two
// small perceptrons, on top of heuristic priors whose strengths are trained. Cost is linear in groups + edges.
//
// NAME x is a linear layer: y = W x + b, W stored (out, in). "*" multiplies element by element. N are the features of
// groups, e of edges, D of devices, G of the whole (environment/graph_features.h); t is the logarithm of the reward
// temperature; f and priors are those of a choice (environment/observation.h). The right column has the width of a
// result.
//   c = relu(condition.1 relu(condition.0 [t, G]))                                           kCondition
//   h = relu(input N)                                                                        kWidth
//   for r = 0..kRounds-1:
//     m_ij = relu(round.r.forward h_j + round.r.forward.edge e_ij) of predecessors j         kMessage
//     mean_f, max_f = mean and maximum of m_ij over j; 0 without predecessors
//     mean_b, max_b = the same over successors with round.r.backward
//     z  = round.r.mix [h, mean_f, max_f, mean_b, max_b]
//     h += round.r.out relu(z * (1 + round.r.scale c) + round.r.shift c)
//   group head, of group i:
//     first = group.embed h_i + group.condition c                                            kHidden
//     logit = group.out relu(group.hidden relu(first + group.features f)) + sum_m strength_m prior_m
//     strength = exp(clamp(group.strength c, -8, 8))
//   device head, of device d for group i: the same with device.* and
//     first = device.embed h_i + device.condition c + device.device.1 relu(device.device.0 D_d)
//   A network that looks ahead is also shown an outlook of every choice (environment/outlook.h): features o and a
//   prior. Its heads add NAME.ahead o to `first` and exp(clamp(NAME.ahead.strength c, -8, 8)) x that prior to the
//   logit.
// A prior below -1e4 counts as that, and logits beyond +-1e9 are cut off there, so that they are finite under any
// finite weights. Inference is in float32; the order of every sum is fixed.
//
// Scale and shift by c are "feature-wise linear modulation" (Perez et al., 2018).
namespace millrace {

inline constexpr int kRounds = 3;

// Strengths that training starts from, by GroupPrior (upward rank, finish, start, idle gap) and by DeviceChoicePrior
// (finish, onward, look-ahead, input share). A random search found them; they give good samples without any training.
inline constexpr std::array<double, kGroupPriors> kGroupStartStrengths = {0.9, 0.3, 27, 0.2};
inline constexpr std::array<double, kDeviceChoicePriors> kDeviceStartStrengths = {18, 7.5, 25, 0.13};
inline constexpr double kAheadStartStrength = 10;

// Name and shape of every tensor. A linear layer has NAME.weight (out, in) and, if it has a bias, NAME.bias (out).
// These have none: group.out and device.out, with one output each, group.condition, device.condition, and every
// *.features, *.ahead, *.edge, *.scale and *.shift.
std::vector<std::pair<std::string, std::vector<std::int64_t>>> MessagePassingShapes(bool looks_ahead);

// Random weights that training starts from: He-uniform, where layers whose outputs are added up before a relu count
// their inputs together. Biases, group.out, device.out, scale, shift and strength weights are 0, so that the logits are
// the priors at the strengths above.
Weights InitialMessagePassingWeights(Random& random);

// A network without outlook becomes one that looks ahead, to be trained on. Its weights for what it is shown besides
// start at 0, but for the strengths of the priors.
bool LooksAhead(const Weights& weights);
void LookAhead(Weights& weights);

// Throws InvalidInput for weights of another architecture, version or shape. Tensors of other names are ignored.
std::unique_ptr<Policy> MakeMessagePassingPolicy(const Weights& weights);

}  // namespace millrace
