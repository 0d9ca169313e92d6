// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/cost/costed_graph.h"

// How a device is connected to the others: what the features of stepwise and one-shot policies both say of it.
namespace millrace {

// Sums over all other devices. Seconds.
struct DeviceLinks {
  double out = 0;      // a transfer of so many bytes to each of them
  double in = 0;       // and from each
  double latency = 0;  // of the transfers out
  int others = 0;
  int free = 0;  // of these, how many cost nothing to send to

  double FreeShare() const { return others > 0 ? static_cast<double>(free) / others : 1.0; }
};

DeviceLinks LinksOf(const CostedGraph& costed, int device, double bytes);

// Over the edges between groups; 0 without any.
double MeanEdgeBytes(const CostedGraph& costed);

}  // namespace millrace
