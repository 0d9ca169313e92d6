// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "millrace/heuristics/partial_schedule.h"
#include "millrace/planning/planner.h"

// List scheduling there and back: HEFT, then the reversed graph by when groups finished, then the graph by when they
// finished in reverse, and so on. Seconds.
//
// The upward rank says how long the path behind a group is if nothing on it ever waits. A plan says how long it really
// took from the group's start to the end, devices and transfers of that plan included, and so who was late. The plan of
// the reversed graph, read from its end, is one of the graph, and its finishes are such priorities; devices are chosen
// anew at every pass. Most of what a search finds in a hundred times as long is found in a few passes.
//
// Sources: Li, Willis, "An iterative scheduling technique for resource-constrained project scheduling", European J.
// Operational Research 1992, where work is moved within its resources; the choice of devices is that of HEFT.
namespace millrace {

struct ForwardBackwardOptions {
  int most_rounds = 16;                               // there and back; fewer on very large graphs
  int most_in_vain = 6;                               // rounds without a faster plan, one after the other
  std::function<bool()> stop = [] { return false; };  // asked after each pass
};

// The passes from a plan of the costed graph, which must outlive this. One object serves many plans; one thread.
class ThereAndBack {
 public:
  explicit ThereAndBack(const CostedGraph& costed);
  ~ThereAndBack();

  // Calls offer(plan, seconds) for every plan that is faster by the proxy than `from` and all before it. O(rounds)
  // times HEFT. Throws Interrupted.
  void Improve(const Assignment& from, const ForwardBackwardOptions& options,
               const std::function<void(const Assignment&, double)>& offer);

 private:
  struct Workspace;
  std::unique_ptr<Workspace> workspace_;
};

// Calls offer(plan, seconds) for HEFT's plan and for every one that is faster by the proxy than all before it. Where
// the proxy is the contended one the way back knows of no channels.
void ScheduleForwardBackward(const CostedGraph& costed, const ForwardBackwardOptions& options,
                             const std::function<void(const Assignment&, double)>& offer);

// The planner `forward-backward`: offers those plans, on machines with gangs those of each gang choice.
// Budget::seconds ends it after the pass at hand.
PlannerTraits ForwardBackwardTraits();
std::unique_ptr<Planner> MakeForwardBackward();

}  // namespace millrace
