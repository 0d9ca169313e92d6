// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/fusion/fusion_problem.h"
#include "millrace/go/decisions.h"
#include "millrace/go/problem.h"
#include "millrace/plan/plan.h"

// Turns the decisions of GO's policy into a plan: ops are merged in order of their fusion levels while the groups stay
// legal, groups go where their ops were placed, and a list scheduler runs them by priority. Seconds.
namespace millrace {

// A plan that is valid, but for memory.
struct DecodedPlan {
  std::shared_ptr<const CostedGraph> costed;  // of its groups
  Assignment assignment;
  std::vector<double> priorities;  // by group, in the ready queue; empty: order of readiness
  double makespan = 0;             // by the linear proxy
  bool fits = true;                // in memory

  Plan plan() const { return {costed->groups, assignment.placement, assignment.sequence}; }
};

// Threads may share it. The problem must outlive it.
class GoDecoder {
 public:
  explicit GoDecoder(const GoProblem& problem);

  // All plans have the groups of `given`; decisions of the fusion task are ignored. `given` must outlive the plans.
  GoDecoder(const GoProblem& problem, const CostedGraph& given);

  const GoProblem& problem() const { return problem_; }
  const FusionProblem& fusion() const { return fusion_; }
  bool chooses_groups() const { return given_ == nullptr; }

  // Merges: candidates (fusion/fusion_problem.h) are tried by the fusion level of their consumer, the highest first.
  // Equal ones are tried by their largest tensor, then by the consumer in topological order, then the latest producer
  // first. Ops of two colocations are never merged, and a consumer of level 0 joins no producer.
  //
  // Placement: a group goes to the device of its anchor, else of the op that takes longest. Groups that must share a
  // device go, of those that can run them all, to the one where most of their work would go; of equal ones, to the one
  // where they take the least time.
  //
  // Sequence: that of SchedulePlaced. The priority of a group is the highest of its ops.
  //
  // A task without decisions takes its default: GreedyFusion; the device where everything takes the least time; order
  // of readiness.
  DecodedPlan Decode(const Decisions& decisions) const;

  // The fusion groups of that plan.
  FusionGroups Groups(const Decisions& decisions) const;

 private:
  std::shared_ptr<const CostedGraph> Contract(const Decisions& decisions) const;
  std::shared_ptr<const CostedGraph> GreedilyFused() const;
  std::vector<int> Place(const Decisions& decisions, const CostedGraph& costed) const;

  const GoProblem& problem_;
  FusionProblem fusion_;
  std::vector<double> merge_bytes_;  // by candidate of fusion_: the largest tensor between its two ops
  mutable std::once_flag greedy_made_;
  mutable std::shared_ptr<const CostedGraph> greedy_;
  std::shared_ptr<const CostedGraph> given_;  // null: groups are decided
};

// Decisions::device of a plan: by colocation, the device of the groups that its ops are in. `placement` is by group of
// `costed`.
std::vector<std::int32_t> DevicesByColocation(const GoProblem& problem, const CostedGraph& costed,
                                              const std::vector<int>& placement);

}  // namespace millrace
