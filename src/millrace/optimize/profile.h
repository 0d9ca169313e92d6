// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "millrace/formats/model.h"
#include "millrace/graph/computation_graph.h"
#include "millrace/machine/machine.h"
#include "millrace/plan/plan.h"
#include "millrace/planning/deadline.h"
#include "millrace/target/profile_cache.h"
#include "millrace/target/profile_groups.h"

// Replacing estimates by measured times: every distinct op and fused group of a model, once per device kind of this
// host. Seconds.
namespace millrace {

struct ProfileGraphOptions {
  double seconds_per_group = 0.02;  // of one group on one kind; less where time is short for all
  GroupTimer time_group = ProfileGroup;
  std::map<std::string, std::string> processors = {};  // as GroupTiming has them
};

struct ProfileSummary {
  int distinct = 0;    // (group, kind) pairs that differ
  int measured = 0;    // of those, measured now
  int from_cache = 0;  // known from an earlier run
  int disturbed = 0;   // of those measured now: others used our processors; the cache does not keep them
  int left_out = 0;    // not measured when time ran out: they keep their estimate
  double seconds = 0;  // wall time
};

// The graph of the model with `seconds` by kind for every op and `group_seconds` for every one of `groups` that has
// more than one op. An op or group is annotated once all kinds are known for it. With the usual timer, units of
// the machine must be processors of this host; its default link says what they hand to each other for, which the cache
// is told. News goes into the cache (not saved here). Throws InvalidInput for ops
// the runtime lacks, Interrupted.
ComputationGraph ProfileGraph(const Model& model, const ComputationGraph& graph, const Machine& machine,
                              const FusionGroups& groups, const ProfileGraphOptions& options, ProfileCache& cache,
                              const Deadline& deadline, const std::function<void(int, int)>& progress,
                              ProfileSummary& summary);

}  // namespace millrace
