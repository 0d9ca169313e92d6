// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/cost/costed_graph.h"

// Priorities of list scheduling: how long the longest path from (or to) a group is when nobody knows yet where things
// run. Seconds.
namespace millrace {

// What a transfer costs on average over the ordered pairs of devices that share no unit; all 0 without such pairs.
struct MeanTransfer {
  double latency = 0;
  double seconds_per_byte = 0;

  double Seconds(double bytes) const { return latency + bytes * seconds_per_byte; }
};
MeanTransfer MeanTransferOf(const Topology& topology);

// Per group, over the devices that can run it.
std::vector<double> MeanSeconds(const CostedGraph& costed);
std::vector<double> MedianSeconds(const CostedGraph& costed);

// The CCR of a costed graph: mean seconds of a transfer between devices over those of a group; 0 without edges.
double CommunicationRatio(const CostedGraph& costed);

// Length of the longest path from a group to the end of the graph, the group's own seconds included. A default
// MeanTransfer leaves communication out: the static level.
// Source: Topcuoglu, Hariri, Wu, "Performance-Effective and Low-Complexity Task Scheduling for Heterogeneous
// Computing", IEEE TPDS 2002.
std::vector<double> UpwardRanks(const CostedGraph& costed, const std::vector<double>& seconds,
                                const MeanTransfer& transfer);

// Length of the longest path from the start of the graph to a group, its own seconds left out.
std::vector<double> DownwardRanks(const CostedGraph& costed, const std::vector<double>& seconds,
                                  const MeanTransfer& transfer);

// Where each group stands in costed.topological_order.
std::vector<int> TopologicalPositions(const CostedGraph& costed);

// Groups by decreasing rank, equal ones in topological order. A topological order where no group's rank is below a
// successor's, as with upward ranks.
std::vector<int> ByDecreasingRank(const CostedGraph& costed, const std::vector<double>& ranks);

}  // namespace millrace
