// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "millrace/random/random.h"

// Random undirected graphs with a wanted mean degree, in time linear in nodes and links. Links are distinct and join
// different nodes; where a graph is too small for the degree it is as dense as it can be.
namespace millrace {

using Links = std::vector<std::pair<std::int32_t, std::int32_t>>;

// Every pair is linked with the same probability.
Links DrawErdosRenyi(std::int32_t nodes, double degree, Random& random);

// Nodes in `blocks` equal blocks (sizes differ by one at most); `inside` of a node's expected links stay in its block.
Links DrawStochasticBlocks(std::int32_t nodes, double degree, std::int32_t blocks, double inside, Random& random);

// A ring on which every node is linked to its round(degree / 2) (at least one) next ones, then each link's far end is
// thrown to a random node with probability `rewired` (Watts and Strogatz, Nature, 1998).
Links DrawWattsStrogatz(std::int32_t nodes, double degree, double rewired, Random& random);

// A star of m + 1 nodes, m = round(degree / 2) (at least one); every further node is linked to m distinct earlier ones,
// drawn in proportion to their degree (Barabasi and Albert, Science, 1999).
Links DrawBarabasiAlbert(std::int32_t nodes, double degree, Random& random);

// Orders the nodes by a random permutation, renames them by it and points every link from the lower to the higher id.
void OrientAtRandom(std::int32_t nodes, Random& random, Links& links);

// Adds a link from a random lower id to the lowest id of every unconnected piece but node 0's.
void Connect(std::int32_t nodes, Random& random, Links& links);

}  // namespace millrace
