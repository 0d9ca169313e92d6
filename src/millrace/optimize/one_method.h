// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/cost/cost_model.h"
#include "millrace/machine/machine.h"
#include "millrace/optimize/candidate.h"
#include "millrace/plan/plan.h"
#include "millrace/planning/objective.h"
#include "millrace/planning/planner.h"

// Planning with one method, judged by the proxy alone. Seconds.
namespace millrace {

enum class GivenFusion {
  kNone,    // every op a group of its own
  kGreedy,  // fusion/greedy_fusion.h
  kMerged   // fusion/merged_fusion.h
};

// By name: none, greedy, merged. Throws InvalidInput for another.
GivenFusion GivenFusionNamed(std::string_view name);
const std::vector<std::string>& GivenFusionNames();

struct OneMethodOptions {
  std::optional<GivenFusion> fusion = {};  // empty: as the method chooses, or none where it does not
  // Empty: usual_samples of the method; all that time allows where it is limited.
  std::optional<std::int64_t> samples = {};
  std::optional<std::int64_t> iterations = {};  // empty: the method's own
  std::optional<double> time_limit = {};        // of drawing, searching and trying again for memory together
  Objective objective = {};  // where it is not latency, half of the time goes to what is traded for that
  std::uint64_t seed = 0;
};

struct OneMethodResult {
  PlanRecord record;             // proxy_seconds is the makespan
  std::vector<Candidate> front;  // optimize/trade_plans.h, where the objective is not latency
  double lower_bound = 0;        // simulate/bounds.h, for the plan's groups
  double proven_bound = 0;       // simulate/proven_bound.h, likewise
  double fusion_free_bound = 0;
  std::int64_t samples = 0;             // plans the method offered
  std::optional<double> mean_makespan;  // planning/drawn_plans.h, where it takes samples
  std::optional<double> distance;       // likewise
  double wall_seconds = 0;              // without proven_bound
  bool memory_saving = false;           // changed to fit in memory, or made to: nothing the method offered did
};

// Throws InvalidInput where a planner of these traits does not look at a limit that is given.
void CheckLimits(const PlannerTraits& traits, const OneMethodOptions& options);

// The best plan that fits in memory of all that the planner offers for the model's graph on this machine, which the
// model was made for; of plans that are fast enough the one of least value, where the objective is another than
// latency. Throws InvalidInput where the planner does not look at a limit it is given, WorkFailed where it finds no
// plan that fits, or none that is fast enough, Interrupted.
OneMethodResult PlanByOneMethod(const CostModel& model, const Machine& machine, const Planner& planner,
                                const OneMethodOptions& options);

}  // namespace millrace
