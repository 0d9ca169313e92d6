// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/env/decisions.h"
#include "millrace/env/fusion_problem.h"
#include "millrace/env/one_shot_problem.h"
#include "millrace/plan/plan.h"

// From the decisions of a one-shot policy to a plan: ops are merged in order of their fusion levels while the groups
// stay legal, groups go where their ops were placed, and a list scheduler runs them by priority. Seconds.
namespace millrace {

// Valid, memory aside.
struct OneShotPlan {
  std::shared_ptr<const CostedGraph> costed;  // of its groups
  Assignment assignment;
  std::vector<double> priorities;  // by group, of the ready queue; empty: order of readiness
  double makespan = 0;             // by the linear proxy
  bool fits = true;                // in memory

  Plan plan() const { return {costed->groups, assignment.placement, assignment.sequence}; }
};

// Threads may share it. The problem must outlive it.
class OneShotDecoder {
 public:
  explicit OneShotDecoder(const OneShotProblem& problem);

  const OneShotProblem& problem() const { return problem_; }

  // Merges: candidates (fusion_problem.h) by level of the consumer, the highest first; of equal ones the largest
  // tensor, then consumers in topological order, then the latest producer. Two colocations are never merged. Level 0:
  // none.
  //
  // Placement: a group's device is that of its anchor, else of the op that takes longest; groups that must share a
  // device go where most of their work would. Where that cannot be, to the device where they take the least.
  //
  // Sequence: SchedulePlaced, a group's level being the highest of its ops, equal ones by their upward rank.
  //
  // Decisions of a task may be missing: GreedyFusion; the device where everything takes the least; readiness.
  OneShotPlan Decode(const Decisions& decisions) const;

  // The fusion groups alone.
  FusionGroups Groups(const Decisions& decisions) const;

 private:
  std::shared_ptr<const CostedGraph> Contract(const Decisions& decisions) const;
  std::shared_ptr<const CostedGraph> GreedilyFused() const;
  std::vector<int> Place(const Decisions& decisions, const CostedGraph& costed) const;

  const OneShotProblem& problem_;
  FusionProblem fusion_;
  std::vector<double> merge_bytes_;  // by candidate of fusion_: the largest tensor between its two ops
  mutable std::once_flag greedy_made_;
  mutable std::shared_ptr<const CostedGraph> greedy_;
};

// Decisions::device of a plan: by tie, the device of the groups its ops are in (placement: by group of `costed`).
std::vector<std::int32_t> DevicesByTie(const OneShotProblem& problem, const CostedGraph& costed,
                                       const std::vector<int>& placement);

}  // namespace millrace
