// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/reversed.h"

#include <algorithm>
#include <limits>

namespace millrace {

CostedGraph Reversed(const CostedGraph& costed) {
  CostedGraph reversed = costed;
  reversed.predecessors.swap(reversed.successors);
  reversed.predecessor_offsets.swap(reversed.successor_offsets);
  std::reverse(reversed.topological_order.begin(), reversed.topological_order.end());
  const Topology& from = costed.topology;
  Topology& to = reversed.topology;
  for (int a = 0; a < from.num_devices; ++a) {
    for (int b = 0; b < from.num_devices; ++b) {
      to.latency[to.Pair(a, b)] = from.latency[from.Pair(b, a)];
      to.seconds_per_byte[to.Pair(a, b)] = from.seconds_per_byte[from.Pair(b, a)];
      to.free[to.Pair(a, b)] = from.free[from.Pair(b, a)];
      const std::int32_t entry = from.EntryOf(from.Pair(b, a));
      to.channel[to.Pair(a, b)] = entry >= 0 ? entry : from.channel[from.Pair(b, a)];
      if (!to.entry.empty()) to.entry[to.Pair(a, b)] = entry >= 0 ? from.channel[from.Pair(b, a)] : -1;
    }
  }
  to.memory_bytes.assign(to.memory_bytes.size(), std::numeric_limits<double>::infinity());
  reversed.limited_memory = false;
  to.proxy = Proxy::kLinear;
  reversed.tensors.clear();
  reversed.tensor_readers.clear();
  return reversed;
}

}  // namespace millrace
