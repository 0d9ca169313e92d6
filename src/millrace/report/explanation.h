// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/plan/plan.h"
#include "millrace/simulate/critical_path.h"

// Why a plan takes as long as it does, worked out for telling: where the time on its critical path goes, and what would
// become of it with a group elsewhere. By the proxy of the costed graph. Seconds, bytes.
namespace millrace {

// The plan with one group on another device, everything else as it is.
struct WhatIf {
  double finish = 0;    // of the group; kCannotRun where it cannot run there
  double makespan = 0;  // likewise
  bool fits = true;     // in memory
};

struct PlanExplanation {
  TracedTimeline traced;
  std::vector<CriticalStep> path;
  std::vector<double> path_seconds;  // of the critical path, by group: that it computes
  std::vector<double> path_busy;     // of the critical path, by device: that something computes there
  double path_transfers = 0;         // of the critical path: transfers that the next group on it reads
  double path_queues = 0;            // of the critical path: transfers that only keep such a one from its channel
  std::vector<double> busy;          // by device, of the whole plan
  double transferred_bytes = 0;      // each tensor counted once for every memory it goes to
};

PlanExplanation Explain(const CostedGraph& costed, const Assignment& assignment);

// The groups that compute longest on the critical path, the longest first; at most `most`.
std::vector<int> MostCriticalGroups(const PlanExplanation& explanation, std::size_t most);

// By device: the group, with those it must share a device with, moved there. A simulation for each.
std::vector<WhatIf> WhatIfMoved(const CostedGraph& costed, const Assignment& assignment, int group);

}  // namespace millrace
