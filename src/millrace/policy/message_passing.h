// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/policy/policy.h"
#include "millrace/policy/weights.h"
#include "millrace/random/random.h"

// The shipped sampler's network, architecture "mpnn" version "1": groups are embedded once per graph and temperature by
// bidirectional message passing; every step scores its choices from these embeddings and the step's features by two
// small perceptrons, on top of heuristic scores whose strength is trained. Cost is linear in groups + edges.
//
// y = W x + b throughout, W stored (out, in). x: nodes N, edges e, devices D, globals; t = log of the reward
// temperature. With c the condition, relu everywhere:
//   c    = relu(condition.1 relu(condition.0 [t, globals]))                                  kCondition
//   h    = relu(input N)                                                                     kWidth
//   for r = 0..kRounds-1:
//     from predecessors j: m = relu(round.r.forward h_j + round.r.forward.edge * e); mean and max over them; 0 if none
//     from successors k:   the same with round.r.backward
//     z  = round.r.mix [h, mean_f, max_f, mean_b, max_b]
//     h += round.r.out relu(z * (1 + round.r.scale c) + round.r.shift c)
//   group head:  first = group.embed h + group.condition c;                                  kHidden
//     logit = group.out relu(group.hidden relu(first + group.features f)) + sum_k strength_k prior_k
//     strength = exp(clamp(group.strength c, -8, 8))
//   device head: the same with device.*, first = device.embed h + device.condition c + device.device.1
//   relu(device.device.0 D)
// A prior below -1e4 counts as that, and logits beyond +-1e9 are cut off there, so that they are finite under any
// finite weights. Inference is in float32; the order of every sum is fixed.
//
// "Feature-wise linear modulation" (Perez et al., 2018) is the scale and shift by c.
namespace millrace {

inline constexpr int kWidth = 64;
inline constexpr int kMessage = 32;
inline constexpr int kCondition = 32;
inline constexpr int kHidden = 32;
inline constexpr int kRounds = 3;

// Name and shape of every tensor of the architecture. Linear layers have ".weight" (out, in) and, where they have a
// bias, ".bias" (out); group.out, device.out (one output each) and every "*.features", "*.edge", "*.scale", "*.shift",
// group.condition and device.condition have none.
std::vector<std::pair<std::string, std::vector<std::int64_t>>> MessagePassingShapes();

// Random weights as training starts from: He-uniform, layers that are added up before a relu counting their inputs
// together; biases, group.out, device.out, scale, shift and strength weights zero, so that the policy starts as its
// heuristic prior, at the strengths 0.9, 0.3, 27, 0.2 for groups and 18, 7.5, 25, 0.13 for devices, which a random
// search found to give good samples without any training.
Weights InitialMessagePassingWeights(Random& random);

// Throws InvalidInput for weights of another architecture, version or shape. Tensors of other names are let be.
std::unique_ptr<Policy> MakeMessagePassingPolicy(const Weights& weights);

}  // namespace millrace
