// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/plan/plan.h"
#include "millrace/simulate/timeline.h"

// Why a plan takes as long as it does: what every group waited for, and the chain of groups and transfers, each waiting
// for the one before, that reaches from time 0 to the last finish. By the proxy that Topology::proxy names. Seconds.
namespace millrace {

// What made a group start when it did and not earlier.
enum class WaitsFor {
  kNothing,   // it starts at time 0
  kDevice,    // for the group before it on one of its units
  kInput,     // for a group whose tensor it reads where it is
  kTransfer,  // for a tensor on its way from another device
};

struct StartReason {
  WaitsFor what = WaitsFor::kNothing;
  std::int32_t group = -1;     // whose finish, or whose tensor, it was; -1: nobody's
  std::int32_t transfer = -1;  // index into TracedTimeline::transfers; -1: none
};

// A tensor on its link or channel.
struct TracedTransfer {
  std::int32_t producer = 0;  // group
  std::int32_t to = 0;        // device
  double begin = 0, end = 0;
  std::int32_t behind = -1;  // the transfer it had to let through first; -1: none
};

struct TracedTimeline {
  Timeline timeline;
  std::vector<StartReason> reasons;       // by group
  std::vector<TracedTransfer> transfers;  // contended: all of them; linear: those that groups waited for
};

// Where a group could start for two reasons at the same time, one of them is named.
TracedTimeline TraceTimeline(const CostedGraph& costed, const Assignment& assignment);

// One link of the chain.
struct CriticalStep {
  std::int32_t group = 0;      // that computes, or whose tensor travels
  std::int32_t transfer = -1;  // index into TracedTimeline::transfers; -1: the group computes
  double begin = 0, end = 0;
};

// In order of time: begins at 0, ends with the makespan, and each step begins when the one before ends. Empty without
// groups.
std::vector<CriticalStep> CriticalPath(const TracedTimeline& traced);

}  // namespace millrace
