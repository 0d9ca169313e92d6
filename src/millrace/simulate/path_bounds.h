// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "millrace/cost/costed_graph.h"

// How early a group can start, and how much must follow it, on each device: paths that pay for their transfers.
// Seconds.
//
// A group shares its device with a predecessor or pays the least transfer from another one; predecessors that share the
// device run there one after the other (joint_arrival.h), and so do a group's colocated ancestors. Units are not
// counted beyond that: each group and device for itself, as if everybody else made way. Idea: Papadimitriou and
// Yannakakis, "Towards an architecture-independent analysis of parallel algorithms", 1990, without their duplicates of
// ops.
namespace millrace {

// By group * num_devices + device; infinity where the group cannot run there.
struct PathBounds {
  std::vector<double> head;  // no plan starts the group earlier on the device
  std::vector<double> tail;  // no plan ends sooner after the group's finish on the device

  // The least head + seconds + tail of any device, the largest of all groups.
  double longest = 0;
};

// Pairs of groups that are known not to share a device: by group * num_groups + group, both ways; empty: none.
using ApartGroups = std::vector<std::uint8_t>;

// Holds for every plan (that keeps the groups of `apart` on different devices) under the linear timeline with the links
// of `costed` or dearer ones. For unlike devices, gangs, colocations and free links alike. O((edges + groups) x
// devices^2), or x devices where all transfers cost the same.
PathBounds MakePathBounds(const CostedGraph& costed, const ApartGroups& apart = {});

// Does a transfer cost the same between any two devices?
bool LinksAlike(const Topology& topology);

// Links under which bounds of the linear timeline hold for the contended one, too. There a tensor goes to a memory
// once, to its first reader's device: where a memory has several devices, each link gets the least latency and the
// least seconds per byte of those that may have carried the tensor. Without such memories the links are as they were.
Topology TopologyForAnyTimeline(const Topology& topology);

}  // namespace millrace
