// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "millrace/graph/computation_graph.h"

// Workloads of the device-placement collection by Tarnawski et al. ("Efficient algorithms for device placement of DNN
// graph operators", 2020): ops with times on a CPU and on an accelerator.
namespace millrace {

// Their transfers are timed at this rate between an accelerator and main memory, so on a link of this bandwidth they
// take what the file says.
inline constexpr double kDnnPartitioningBandwidth = 2147483648.0;  // bytes per second, 2 GiB

// A JSON object with nodes[] {id, name, cpuLatency, fpgaLatency (milliseconds), supportedOnFpga, size (bytes),
// isBackwardNode, colorClass, layerId} and edges[] {sourceId, destId, cost (milliseconds)}; other members are ignored.
//
// Op i is the i-th node: type "forward" or "backward", seconds by kind "cpu" and, where supported, "fpga"; its weight
// bytes are the node's size, which is all the memory the node occupies on its device; nodes of one colorClass are
// colocated. The out-edges of a node are one tensor of cost * kDnnPartitioningBandwidth bytes (one for each cost where
// they differ; an edge given twice counts once, at its higher cost). Throws InvalidInput naming the member.
ComputationGraph ParseDnnPartitioning(std::string_view text, const std::string& name);

}  // namespace millrace
