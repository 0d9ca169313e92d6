// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "millrace/cost/steering.h"
#include "millrace/formats/load.h"
#include "millrace/machine/machine.h"
#include "millrace/optimize/candidate.h"
#include "millrace/optimize/context_fit.h"
#include "millrace/optimize/profile.h"
#include "millrace/optimize/transfer_guess.h"
#include "millrace/planning/objective.h"
#include "millrace/planning/registry.h"
#include "millrace/target/hand_over.h"
#include "millrace/target/measurement.h"
#include "millrace/target/target.h"

// The main job, end to end: price the graph, propose many plans, keep a few that are good and different, measure those
// on the target, and say what won and by how much. Seconds.
//
// A time limit holds for all of it: each stage and each planner has a share of what is left, and what cannot be stopped
// is not begun where it is likely to take too long. On a deterministic target that is nowhere faster than the proxy the
// run ends early at a plan within a thousandth of the lower bound.
//
// The scheme is that of "Robust Scheduling with GFlowNets" (Zhang et al., 2023): a cheap proxy filters, the target
// decides.
namespace millrace {

struct OptimizeOptions {
  std::string target = "cpu";              // target/target.h
  std::optional<Proxy> proxy;              // empty: UsualProxy of the machine
  std::optional<std::int64_t> samples;     // plans of planners that draw, for each way of fusing; by default 1000 for
                                           // all together, fewer for very large graphs
  std::optional<std::int64_t> iterations;  // steps of each search; by default enough to settle, or all that time allows
  std::size_t top_k = 16;                  // candidates measured
  std::vector<std::string> methods;        // planners; empty: PlannerRegistry::PoolNames
  PlannerSettings settings;                // of planners that declare such options
  std::vector<std::string> without;        // stages left out, OptimizeStages
  Objective objective;                     // what the best plan is best at
  Steering steering;                       // what all plans keep to, but for baselines that show what comes without
  // Makes planners whose weights are fitted to the graph with the times the proxy goes by. Empty: none.
  std::function<PlannerRegistry(const ComputationGraph&)> adapt;
  std::optional<double> time_limit;  // for the whole run, with what the caller does before and after
  double seconds_before = 0;         // of it, gone already: reading the files
  double seconds_after = 0;          // of it, kept for the caller: writing what was found
  bool quick = false;   // fewer samples, rounds and shorter profiling, and without a time limit one of QuickSeconds
  bool robust = false;  // plans are judged by the worse of what they take with their order kept and without
  std::uint64_t seed = 0;
  int threads = 1;                             // of searches that go on until the time limit; planners have their own
  std::string profile_cache;                   // file of earlier profiles; empty: none
  bool reprofile = false;                      // times that file holds are measured anew
  std::string records;                         // file of earlier measurements, appended to; empty: none
  mpi::Leader* ranks = nullptr;                // of target mpi
  std::optional<GroupTiming> timing;           // of targets whose devices are not this host's
  HandOverMeter hand_overs = MeasureHandOver;  // between this host's processors, where plans run on them
};

// A plan measured beside the winner after the choice.
struct BaselineResult {
  std::string name;
  std::string meaning;
  Candidate candidate;              // times and target_seconds of the final comparison
  std::pair<double, double> ratio;  // 95 % interval of baseline / best; both 0 where either has no time
  bool keeps = true;                // to the steering; one that does not is never the answer
};

// The plan that was chosen, where a baseline turned out faster when both were measured again.
struct Challenger {
  Candidate candidate;
  std::pair<double, double> ratio;  // 95 % interval of challenger / best; both 0 where either has no time
};

// What the target does by itself without a plan, measured beside the winner.
struct OwnModeResult {
  std::string name;
  std::string meaning;
  Measurement measurement;
  std::pair<double, double> ratio;  // 95 % interval of own mode / best; both 0 where either has no time
};

struct OptimizeResult {
  ComputationGraph graph;  // with measured times, where profiled: what the proxy saw
  std::string graph_hash;
  Machine machine;
  std::string target;
  Proxy proxy = Proxy::kLinear;
  std::uint64_t seed = 0;
  bool robust = false;
  Candidate best;  // times and target_seconds of the final comparison
  std::vector<BaselineResult> baselines;
  std::vector<OwnModeResult> own_modes;
  Objective objective;
  Candidate fastest;             // where the objective is not latency: the plan that the limit is reckoned from
  std::vector<Candidate> front;  // the same: measured plans none of which is beaten in time and value, fastest first
  std::optional<Challenger> challenger;
  std::vector<Candidate> candidates;  // every plan that went to the target, best proxy first; those of the final
                                      // comparison with its times, unless processors were moved before that
  int recalled = 0;                   // of those, times known from the records of an earlier run
  std::int64_t proposed = 0;          // plans proposed by all planners
  std::int64_t infeasible = 0;        // of those that were looked at, plans over memory
  double lower_bound_seconds = 0;     // for the best plan's groups
  double proven_bound_seconds = 0;    // the same, by every means that optimize has
  double fusion_free_bound_seconds = 0;
  bool target_indifferent = false;             // all plans that were measured, several, took exactly the same time
  ProxyJudgement proxy_judgement;              // over measured candidates
  std::optional<TransferFit> transfer_fit;     // what the first measurements say transfers cost beyond the proxy
  std::optional<DurationFit> duration_fit;     // what they say single ops take
  std::optional<ProxyJudgement> in_context;    // how the proxy does with op times in context, on plans it has not seen
  std::optional<double> pays_back_after_runs;  // planning time over seconds saved against the fastest baseline, where
                                               // the objective is latency
  double planning_seconds = 0;
  std::optional<ProfileSummary> profile;
  bool disturbed = false;   // other processes took our processors during the final comparison
  int processor_moves = 0;  // of our processors by their host, as ProcessorWatch sees them, since ops were timed
  std::vector<std::string> warnings;
};

// What is going on.
struct OptimizeStep {
  std::string_view stage;
  std::string_view method;             // at work now; empty where none is
  double done = 0;                     // share of the whole run, 0 to 1, never less than before
  std::optional<double> seconds_left;  // where time is limited
};
using OptimizeProgress = std::function<void(const OptimizeStep&)>;

// The stages in order; those without a name cannot be left out.
struct OptimizeStage {
  std::string name;
  std::string meaning;
};
std::vector<OptimizeStage> OptimizeStages();

// `progress` may be null. Throws InvalidInput (target and model do not go together; no plan can keep to the steering),
// WorkFailed (no plan fits, or every measurement failed), Interrupted.
OptimizeResult Optimize(const LoadedGraph& loaded, const Machine& machine, const PlannerRegistry& planners,
                        const OptimizeOptions& options, const OptimizeProgress& progress);

}  // namespace millrace
