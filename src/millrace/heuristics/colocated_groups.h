// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/cost/costed_graph.h"

// What placements that are made without a schedule in mind share out: groups that must share a device as one, devices
// of which no two share a unit. Seconds.
namespace millrace {

struct ColocatedGroups {
  std::vector<int> vertex_of;  // by group
  std::vector<std::vector<int>> groups;
};

// Every free group alone, those of each colocation together; in the order of their first groups.
ColocatedGroups ColocatedGroupsOf(const CostedGraph& costed);

// Devices of the fewest units, no two of which share one, in ascending order.
std::vector<int> LoneDevices(const CostedGraph& costed);

// Seconds of a group there, or on its fastest device where it cannot run there.
double FiniteSeconds(const CostedGraph& costed, int group, int device);

// By group: the device wished for its vertex, or the one where all of the vertex is fastest if it cannot run there.
std::vector<int> PlacementWished(const CostedGraph& costed, const ColocatedGroups& bound,
                                 const std::vector<int>& wished);

}  // namespace millrace
