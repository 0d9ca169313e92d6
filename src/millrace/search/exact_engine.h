// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "millrace/planning/best_of.h"
#include "millrace/search/exact_memo.h"
#include "millrace/search/growing_schedule.h"
#include "millrace/search/node_bounds.h"

// One depth-first branch and bound over the schedules that appending in order of starts makes. Seconds.
//
// A node is a partial schedule; its children append one ready group on one device, the earliest start first. What is
// left out always has a schedule as good that comes earlier in this order, so that nothing is left out in a circle:
//  - a node whose bound reaches the limit;
//  - a node for which a state met before, of the same groups, leaves all others as free (exact_memo.h);
//  - a group on a device that stood idle long enough for it before a group appended later, so that it could have run
//    there at no other group's cost; on any device, if nobody reads what it makes or transfers are all free;
//  - the second of symmetric devices that are unused, and, where transfers are all free, all but the one free first.
// Where memory has a limit only the first and the last but one are used: filling a gap may not fit.
namespace millrace {

class ExactEngine {
 public:
  // Looks for plans that take less than `limit` and keep the groups of `apart` apart. `tail` as PathBounds::tail.
  // Refers to the graph; at most 128 groups. Makespans are multiples of `step`; 0: of nothing.
  ExactEngine(const CostedGraph& costed, std::vector<double> tail, const ApartGroups& apart, double limit, double step,
              std::size_t memo_bytes);

  // Goes on for `nodes` more nodes, to the end, or until stop() is true, which is asked now and then.
  template <typename Stop>
  void Run(std::int64_t nodes, const Stop& stop) {
    constexpr std::int64_t kNodesBetweenLooks = 256;
    while (nodes > 0 && !done_ && !stop()) {
      RunNodes(std::min(nodes, kNodesBetweenLooks));
      nodes -= kNodesBetweenLooks;
    }
  }

  // Plans must take less than this from now on.
  void LowerLimit(double limit) { limit_ = std::min(limit_, limit); }

  bool done() const { return done_; }
  std::int64_t nodes() const { return nodes_; }

  // The best plan met below the limit; nothing if none was.
  const std::optional<RatedAssignment>& best() const { return best_; }

  // No plan that fits takes less, unless it takes no less than the limit or than best().
  double OpenBound() const;

 private:
  struct Child {
    int group = 0;
    int device = 0;
    double start = 0;
    double finish = 0;
    double tail = 0;
    double bound = 0;
    bool open = true;  // false: only there because it fits before others
  };
  struct Frame {
    std::vector<Child> children;
    std::size_t next = 0;
  };

  void RunNodes(std::int64_t nodes);
  void Enter(double inherited);
  void FindChildren(double bound, std::vector<Child>& children);
  void CloseGaps(const Frame& frame, const Child& chosen);
  bool Repeats(double bound);
  void Leaf();

  const CostedGraph& costed_;
  GrowingSchedule schedule_;
  NodeBounds bounds_;
  ExactMemo memo_;
  bool whole_machine_;  // memory has no limit: states and gaps may be compared
  double limit_;
  double step_;
  std::vector<Frame> frames_;  // by depth
  int depth_ = -1;             // of the node being worked on; -1: not begun, or done
  bool begun_ = false;
  bool done_ = false;
  std::int64_t nodes_ = 0;
  std::optional<RatedAssignment> best_;
  MemoState state_;
  MemoLimits limits_;
  std::vector<int> order_;  // devices, symmetric ones by what is known of them
};

}  // namespace millrace
