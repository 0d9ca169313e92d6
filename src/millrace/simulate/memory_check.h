// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/plan/plan.h"
#include "millrace/simulate/peak_memory.h"
#include "millrace/simulate/timeline.h"

// Does a plan fit in memory? Bytes.
namespace millrace {

// Asked about many plans of one costed graph, which must outlive it: holds the workspace, so a call allocates nothing
// once it has seen a plan or two. One object serves one thread.
class MemoryCheck {
 public:
  explicit MemoryCheck(const CostedGraph& costed);

  // Stays every peak (peak_memory.h) within its memory's capacity? True at once where memory is not limited.
  bool Fits(const Assignment& assignment);

  // The same after a change of the plan that it was asked about last: these groups were placed or moved, each named at
  // least once. A change that does not fit is taken back, unless the plan did not fit before. What a group reads, makes
  // and weighs is all that it can add, so as long as there is room for that the plan is not looked at.
  bool FitsWith(const Assignment& assignment, std::span<const int> changed);

  // What the order of groups says of every timeline it may have. A copy of what another memory's group makes lies there
  // from the first reader to the last at least, and from the beginning at most; where several devices share a memory,
  // only the weights at least, and everything all the time at most.
  enum class ByOrder { kFits, kOverflows, kOpen };
  ByOrder WheneverGroupsRun(const Assignment& assignment);

 private:
  bool WholeFits(const Assignment& assignment);
  void Remember(const Assignment& assignment);
  bool HasRoomFor(const Assignment& assignment, std::span<const int> changed);

  // From one place to another, both included.
  static void Hold(double* changes, std::int32_t from, std::int32_t to, double bytes);
  ByOrder Judge(const Assignment& assignment);

  const CostedGraph& costed_;
  std::vector<char> ordered_;           // by memory: one device alone has it
  std::vector<std::int32_t> place_;     // by group: how many groups of its memory run before it
  std::vector<std::int32_t> groups_;    // by memory
  std::vector<std::int32_t> offset_;    // by memory: where its changes begin
  std::vector<std::int32_t> first_;     // by memory: the place of one tensor's first reader
  std::vector<std::int32_t> last_;      // by memory: of its last; -1: none
  std::vector<double> at_most_;         // by memory and place: bytes more than before
  std::vector<double> at_least_;        // likewise
  std::vector<double> weights_;         // by memory
  std::vector<double> all_the_time_;    // by memory: at most, but for weights; where several devices share it
  std::vector<double> most_, least_;    // by memory: so far
  std::vector<char> limited_;           // by memory: it has a capacity
  std::vector<char> open_;              // by memory: the order does not say that it suffices
  std::vector<double> peak_;            // by memory: the most of most_
  std::vector<double> may_hold_;        // by memory: the plan holds no more; empty: not known, or too much
  std::vector<double> may_add_;         // by memory, with a change
  std::vector<double> touches_;         // by group: bytes of what it reads, makes and weighs
  std::vector<std::int32_t> home_;      // by group: its memory in that plan
  std::optional<Simulator> simulator_;  // these two from the first plan on that the order does not settle
  std::optional<PeakMemoryMeter> meter_;
  Timeline timeline_;
};

// The same for one assignment.
bool FitsInMemory(const CostedGraph& costed, const Assignment& assignment);

}  // namespace millrace
