// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/plan/plan.h"

// When each group starts and finishes by the proxy that Topology::proxy names. Seconds.
//
// The linear one: in sequence order a group starts at the latest of the finish of the previous group on each of its
// units and, for every tensor it reads that another group made, that group's finish plus the transfer. No contention.
// The contended one is in contention.h.
//
// With free transfers this is the proxy of "Robust Scheduling with GFlowNets" (Zhang et al., 2023).
namespace millrace {

struct Timeline {
  std::vector<double> start;   // by group
  std::vector<double> finish;  // by group
  double makespan = 0;         // the last finish; 0 without groups
};

class ContendedSimulator;

// Simulates assignments of one costed graph, which must outlive it. Holds the workspace, so a call allocates nothing;
// one simulator serves one thread.
class Simulator {
 public:
  explicit Simulator(const CostedGraph& costed);
  ~Simulator();

  // The makespan alone. Precondition: `sequence` is a topological order of all groups and every group can run where it
  // is placed; nothing is checked here.
  double Makespan(std::span<const int> placement, std::span<const int> sequence);
  double Makespan(const Assignment& assignment) { return Makespan(assignment.placement, assignment.sequence); }

  // The whole timeline, into `timeline`, whose storage is reused.
  void Run(const Assignment& assignment, Timeline& timeline);

 private:
  // Predecessors in blocks of kBlock, a group's last block filled up with repeats of its first one: a maximum does not
  // mind, and nearly every group then takes the same path through the loop, which the processor predicts.
  static constexpr std::size_t kBlock = 4;

  struct LinkCost {
    double latency = 0;
    double seconds_per_byte = 0;
    bool operator==(const LinkCost&) const = default;
  };

  enum class Transfers {
    kFree,
    kUniform,  // the same between any two devices
    kByPair
  };

  Transfers TransfersOf() const;

  void FillBlocks();

  template <Transfers kTransfers, bool kSingleUnits>
  double Sweep(std::span<const int> placement, std::span<const int> sequence);

  const CostedGraph& costed_;
  std::unique_ptr<ContendedSimulator> contended_;  // where that is the proxy; the rest is for the linear one
  std::vector<std::int32_t> block_offsets_;        // by group, in blocks
  std::vector<std::int32_t> blocks_;               // groups, kBlock to a block
  std::vector<double> block_costs_;  // as blocks_: bytes, or seconds where transfers are uniform; empty if free
  std::vector<LinkCost> links_;      // by to * devices + from
  std::vector<double> finish_;       // by group
  std::vector<double> unit_free_;    // by unit
  Transfers transfers_ = Transfers::kByPair;
  bool single_units_ = true;  // every device owns one unit, and no two share it
};

// Convenience for code that is not hot: the timeline of one assignment.
Timeline MakeTimeline(const CostedGraph& costed, const Assignment& assignment);

}  // namespace millrace
