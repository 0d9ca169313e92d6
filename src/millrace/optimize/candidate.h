// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "millrace/plan/plan.h"
#include "millrace/simulate/timeline.h"

// A plan on its way through the pipeline: proposed, priced by the proxy, perhaps measured. Seconds.
namespace millrace {

struct Candidate {
  Plan plan;
  std::string method;  // the planner that made it, "heft"
  std::string fusion;  // how its groups were formed: none, greedy, measured; go: by that method for this plan
  double proxy_seconds = 0;
  std::optional<double> fragility;  // simulate/greedy.h; absent: nobody asked
  std::optional<double> value;      // what the objective is about, where that is not latency: bytes, or seconds

  // Once measured:
  std::vector<double> times;             // of every run, in order
  std::optional<double> target_seconds;  // their median; absent: never measured, or failed
  bool disturbed = false;                // other processes took our processors meanwhile
  std::string failure;                   // why measuring failed; empty if it did not
  std::optional<Timeline> measured;      // of one run, where the target can tell when each group ran
  std::vector<double> group_seconds;     // where `measured` is: by group, the median over all timed runs of its time
};

}  // namespace millrace
