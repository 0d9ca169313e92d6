// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/simulate/timeline.h"

// How much memory a plan needs at its worst moment. Bytes.
namespace millrace {

// Peak of each memory (Topology::memory_of). On a memory lie the weights of the groups placed there, all the time, and
// every tensor with a reader outside its group or none: on its producer's memory from its group's start to the latest
// of that group's finish and the finish of its last reader there; on every other reader's memory from the producer's
// finish to the finish of its last reader there; graph inputs on each reader's memory from 0; outputs on the producer's
// memory to the end. Intervals are half-open: what ends at t is gone before what starts at t.
std::vector<double> PeakMemory(const CostedGraph& costed, const Assignment& assignment, const Timeline& timeline);

// What lies on a memory as time goes by: bytes[i] from times[i] on. Begins at 0, and its largest is the peak.
struct MemoryUse {
  std::vector<double> times;  // ascending
  std::vector<double> bytes;
};

// By memory.
std::vector<MemoryUse> MemoryOverTime(const CostedGraph& costed, const Assignment& assignment,
                                      const Timeline& timeline);

// Both for many plans of one costed graph, which must outlive it: holds the workspace, so a call allocates nothing
// once it has seen a plan or two.
class PeakMemoryMeter {
 public:
  explicit PeakMemoryMeter(const CostedGraph& costed);
  ~PeakMemoryMeter();

  // Peaks by memory; valid until the next call.
  std::span<const double> Measure(const Assignment& assignment, const Timeline& timeline);

  std::vector<MemoryUse> OverTime(const Assignment& assignment, const Timeline& timeline);

  // Does the peak of each of these memories (`measured` by memory: 1) stay within its capacity, as Fits has it?
  bool FitIn(std::span<const char> measured, const Assignment& assignment, const Timeline& timeline);

 private:
  class Ledger;

  const CostedGraph& costed_;
  std::unique_ptr<Ledger> ledger_;
  std::vector<double> peaks_;
  std::vector<char> all_;  // by memory: 1
};

// Does every peak stay within its memory's capacity (but for rounding, a part in 1e12)?
bool Fits(const CostedGraph& costed, std::span<const double> peaks);

}  // namespace millrace
