// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/plan/plan.h"
#include "millrace/simulate/timeline.h"

// List scheduling of groups whose devices are given: the ready queue of a framework's executor.
namespace millrace {

struct PlacedSchedule {
  Assignment assignment;  // the placement it was given, and the order in which groups start
  Timeline timeline;      // of the executor; the linear proxy is never later, the contended one hardly ever
};

// Runs through time: whenever a device's units are all free it starts, of the groups whose inputs have reached it, the
// one of the highest priority; equal ones by the time they became ready, then topological order. Devices with no
// common unit do not wait for each other. Where the proxy is the contended one, transfers wait for their channels.
// `priorities` by group; empty: all equal. Every group must be able to run where it is placed. O((groups + edges) log
// groups + groups x devices that share units).
PlacedSchedule SchedulePlaced(const CostedGraph& costed, std::span<const int> placement,
                              std::span<const double> priorities);

// One placement after the other: what they share stays, so that a call allocates nothing once it has seen a few. The
// graph must outlive it. One serves one thread.
class PlacedScheduler {
 public:
  explicit PlacedScheduler(const CostedGraph& costed);
  ~PlacedScheduler();

  // As SchedulePlaced has it; lasts until the next call. Stops as soon as the timeline is known to end later than
  // `limit`, seconds: then its makespan is a lower bound above that, and the rest of it is not filled in.
  const PlacedSchedule& Schedule(std::span<const int> placement, std::span<const double> priorities,
                                 double limit = std::numeric_limits<double>::infinity());

 private:
  class Executor;
  std::unique_ptr<Executor> executor_;
};

// Priorities by group that ask for this order: the sooner in the sequence, which has every group, the higher.
std::vector<double> PrioritiesInOrder(std::span<const int> sequence);

}  // namespace millrace
