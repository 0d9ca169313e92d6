// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/plan/plan.h"
#include "millrace/simulate/contended_run.h"
#include "millrace/simulate/timeline.h"

// The contended timeline: a machine whose links are shared, as sim:contention measures it. Seconds.
namespace millrace {

// As Simulator, but a channel (the links that name it, else the ordered pair of devices) serves one transfer at a time,
// first ready first served, and a tensor goes to each destination memory once. Transfers that are ready at the same
// time are served in the order of their producer's place in the sequence, then tensor id, then destination memory.
//
// What comes over a link with an entry channel passes there, too, as it comes out of the first, again one transfer at a
// time: a transfer of d seconds that its channel lets in at b is there d after b or after the entry is idle, whichever
// is later, and keeps the entry until then; its own channel is free at b + d. The entry serves in the order of b, at
// one b in that order in which they were ready. It models hosts whose links to a switch are shared each way.
//
// The transfer to a memory goes to the device of its first reader there by the sequence. A reader on a device that the
// producer's reaches for free needs none and takes no part in it.
//
// Simulates assignments of one costed graph, which must outlive it. Holds the workspace, so a call allocates nothing
// after the first; one simulator serves one thread.
class ContendedSimulator {
 public:
  explicit ContendedSimulator(const CostedGraph& costed);

  // Precondition: as Simulator::Makespan.
  double Makespan(std::span<const int> placement, std::span<const int> sequence);

  // The whole timeline, into `timeline`, whose storage is reused.
  void Run(const Assignment& assignment, Timeline& timeline);

  // The same with what made every group start when it did: `causes` as ContendedRun::TraceInto has them, of the
  // transfers returned, which are valid until the next call.
  std::span<const ContendedRun::TracedTransfer> Trace(const Assignment& assignment, Timeline& timeline,
                                                      std::vector<std::int32_t>& causes);

 private:
  const CostedGraph& costed_;
  ContendedRun run_;
  ContendedState state_;
  std::size_t most_units_ = 1;
  std::vector<int> position_;      // by group
  std::vector<int> next_;          // as ChainedPlan::next
  std::vector<int> last_on_;       // by unit
  std::vector<int> last_unit_of_;  // by unit: which of that group's units it is
};

Timeline ContendedTimeline(const CostedGraph& costed, const Assignment& assignment);

// Its makespan; nothing where the assignment does not fit in memory (peak_memory.h).
std::optional<double> ContendedSeconds(const CostedGraph& costed, const Assignment& assignment);

}  // namespace millrace
