// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <utility>
#include <vector>

// How different two plans of one graph are, as "Robust Scheduling with GFlowNets" (Zhang et al., 2023) measures it.
namespace millrace {

// Graph edit distance: the share of chain edges (ChainEdges of either plan) that only one of them has, 0..1.
double ChainEditDistance(std::span<const std::pair<int, int>> edges_a, std::span<const std::pair<int, int>> edges_b);

// d_inv: Euclidean distance of start times, by group. Seconds.
double StartDistance(std::span<const double> starts_a, std::span<const double> starts_b);

// d_sen: the same with placement counted too: every group on another device adds `scale` squared under the root.
double StartAndPlacementDistance(std::span<const double> starts_a, std::span<const int> placement_a,
                                 std::span<const double> starts_b, std::span<const int> placement_b, double scale);

}  // namespace millrace
