// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/graph/computation_graph.h"

// What the hierarchical placer is shown of a graph. Its units of placement are what must share a device anyway: fusion
// groups, those of one colocation together. Here `unit` means such a unit, and `group` one of the placer's own groups.
//
// Source: Mirhoseini et al., "A Hierarchical Model for Device Placement", 2018: types, sizes and adjacency of ops.
namespace millrace {

inline constexpr int kHdpSizes = 4;  // shares of all seconds, weight bytes, output bytes and units

struct HdpFeatures {
  int num_units = 0;
  int num_types = 0;
  int num_columns = 0;
  std::vector<std::int32_t> unit_of;  // by fusion group
  // units x num_columns: shares of op types of the unit, of its readers and of what it reads; squashed sizes and
  // degrees; where it stands in the graph, as waves of growing length.
  std::vector<float> rows;

  // What the placer's own groups are summed up from.
  std::vector<float> types;   // units x num_types: how many ops of each type
  std::vector<double> sizes;  // units x kHdpSizes: each sums up to 1 over all units
  std::vector<double> place;  // by unit: mean position of its ops in topological order, 0 to 1
  struct Edge {
    std::int32_t from = 0;
    std::int32_t to = 0;
    double bytes = 0;
  };
  std::vector<Edge> edges;  // between units
};

// `costed` is the graph's own.
HdpFeatures MakeHdpFeatures(const ComputationGraph& graph, const CostedGraph& costed);

}  // namespace millrace
