// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/plan/plan.h"

// When each group starts and finishes under the linear proxy: in sequence order a group starts at the latest of the
// finish of the previous group on each of its units and, for every tensor it reads that another group made, that
// group's finish plus the transfer. No contention. Seconds.
//
// With free transfers this is the proxy of "Robust Scheduling with GFlowNets" (Zhang et al., 2023).
namespace millrace {

struct Timeline {
  std::vector<double> start;   // by group
  std::vector<double> finish;  // by group
  double makespan = 0;         // the last finish; 0 without groups
};

// Simulates assignments of one costed graph, which must outlive it. Holds the workspace, so a call allocates nothing;
// one simulator serves one thread.
class Simulator {
 public:
  explicit Simulator(const CostedGraph& costed);

  // The makespan alone. Precondition: `sequence` is a topological order of all groups and every group can run where it
  // is placed; nothing is checked here.
  double Makespan(std::span<const int> placement, std::span<const int> sequence);
  double Makespan(const Assignment& assignment) { return Makespan(assignment.placement, assignment.sequence); }

  // The whole timeline, into `timeline`, whose storage is reused.
  void Run(const Assignment& assignment, Timeline& timeline);

  // Finish of each group as the last call left it.
  std::span<const double> finish() const { return finish_; }

 private:
  template <bool kFreeTransfers, bool kSingleUnits>
  double Sweep(std::span<const int> placement, std::span<const int> sequence);

  const CostedGraph& costed_;
  std::vector<double> finish_;     // by group
  std::vector<double> unit_free_;  // by unit
  bool free_transfers_ = true;     // no pair of devices has a cost
  bool single_units_ = true;       // every device owns one unit, and no two share it
};

// Convenience for code that is not hot: the timeline of one assignment.
Timeline MakeTimeline(const CostedGraph& costed, const Assignment& assignment);

}  // namespace millrace
