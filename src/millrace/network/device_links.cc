// SPDX-License-Identifier: Apache-2.0
#include "millrace/network/device_links.h"

namespace millrace {

DeviceLinks LinksOf(const CostedGraph& costed, int device, double bytes) {
  const Topology& topology = costed.topology;
  DeviceLinks links;
  for (int other = 0; other < costed.num_devices; ++other) {
    if (other == device) continue;
    links.out += costed.TransferSeconds(bytes, device, other);
    links.in += costed.TransferSeconds(bytes, other, device);
    links.latency += topology.latency[topology.Pair(device, other)];
    links.free += topology.free[topology.Pair(device, other)] != 0 ? 1 : 0;
    ++links.others;
  }
  return links;
}

double MeanEdgeBytes(const CostedGraph& costed) {
  double bytes = 0;
  for (const GroupEdge& edge : costed.predecessors) bytes += edge.bytes;
  return costed.predecessors.empty() ? 0 : bytes / static_cast<double>(costed.predecessors.size());
}

}  // namespace millrace
