// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/policy/fusion_policy.h"
#include "millrace/policy/weights.h"
#include "millrace/random/random.h"

// A fusion policy with weights of its own, architecture "fusion" version "1". y = W x + b; relu everywhere; f the
// features of the offered merge and saved as in merge_observation.h, t the log of the reward temperature:
//   c     = relu(condition t)                                                             kMergeHidden
//   z     = relu((first f) * (1 + scale c) + shift c)                                     kMergeHidden
//   logit = out relu(hidden z) + strength * saved,  strength = exp(clamp(strength c, -8, 8))
// cut off beyond +-1e9.
namespace millrace {

inline constexpr int kMergeHidden = 32;

// Name and shape of every tensor; scale and shift have no bias.
std::vector<std::pair<std::string, std::vector<std::int64_t>>> LearnedFusionShapes();

// As training starts: what a merge saves, at strength 1, whatever the temperature.
Weights InitialFusionWeights(Random& random);

// Throws InvalidInput for weights of another architecture, version or shape.
std::unique_ptr<FusionPolicy> MakeLearnedFusionPolicy(const Weights& weights);

}  // namespace millrace
