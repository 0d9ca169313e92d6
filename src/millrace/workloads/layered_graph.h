// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "millrace/random/random.h"

// The layered graphs of Topoformer (Gagrani et al., NeurIPS 2022).
//
// W ~ U(0.25, 0.5) sets the number of layers, L = ceil(sqrt(V (1/W - 1))); layer sizes are uniform within 75 % of V/L
// and then nudged, one op of a random layer at a time, until they add up to V. Between neighbouring layers of N1 and N2
// ops lie floor(r N1 N2 + (1 - r) max(N1, N2)) links, r = 0.2, each op of the larger layer linked around its
// proportional position in the other. Of all links 14 % skip layers: from a layer uniform in 0..L-3 to one uniform in
// source+2..L-1.
//
// The number of links grows as V^1.5. Past about 150,000 ops r is lowered so that neighbouring layers share about ten
// million links at most.
namespace millrace {

struct LayeredGraph {
  std::vector<int> layer;                                    // of each op; ascending
  std::vector<std::pair<std::int32_t, std::int32_t>> links;  // (producer, consumer), distinct
};

LayeredGraph DrawLayeredGraph(std::int32_t ops, Random& random);

}  // namespace millrace
