// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
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

  // Stays every peak (peak_memory.h) within its memory's capacity? True at once on machines without capacities.
  bool Fits(const Assignment& assignment);

  // Is the order of groups enough to say so, whenever they run? A copy of what another memory's group makes counts
  // from the beginning, and where several devices share a memory everything counts all the time. False says nothing.
  bool FitsWheneverGroupsRun(const Assignment& assignment);

 private:
  // From one group of a memory to another, in the order they run there, both included.
  void Hold(int memory, std::int32_t from, std::int32_t to, double bytes);

  const CostedGraph& costed_;
  std::vector<char> ordered_;           // by memory: one device alone has it
  std::vector<std::int32_t> place_;     // by group: how many groups of its memory run before it
  std::vector<std::int32_t> groups_;    // by memory
  std::vector<std::int32_t> offset_;    // by memory: where its changes begin
  std::vector<std::int32_t> last_;      // by memory: the place of one tensor's last reader; -1: none
  std::vector<double> changes_;         // by memory and place: bytes more than before
  std::vector<double> always_;          // by memory
  std::optional<Simulator> simulator_;  // these two from the first plan on that the order does not settle
  std::optional<PeakMemoryMeter> meter_;
  Timeline timeline_;
};

// The same for one assignment.
bool FitsInMemory(const CostedGraph& costed, const Assignment& assignment);

}  // namespace millrace
