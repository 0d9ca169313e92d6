// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "millrace/cost/cost_model.h"
#include "millrace/optimize/annealing_beside.h"
#include "millrace/optimize/baselines.h"
#include "millrace/optimize/effort.h"
#include "millrace/optimize/optimize.h"
#include "millrace/optimize/pool.h"
#include "millrace/optimize/processor_watch.h"
#include "millrace/optimize/resume.h"
#include "millrace/planning/deadline.h"
#include "millrace/target/target.h"

// The stages of Optimize, one after the other. Each reads and changes what the stages before it have left here.
namespace millrace {

// How the top_k plans that may be measured are shared out: to the proxy as it is; to guesses at what it does not know;
// and to what the times of both say, once these are known. Few plans all go by the proxy.
struct Places {
  Places() = default;

  // Stages that are left out get none.
  Places(std::size_t top_k, std::size_t guesses, bool guessing, bool calibrating);

  bool many = false;  // enough for plans that are not the proxy's choice
  std::size_t by_proxy = 0;
  std::size_t per_guess = 0;
  std::size_t after_fit = 0;
};

// Streams of a run's one generator: no two stages, and no two seeds, share one.
enum Stream : std::uint64_t { kSharedLinks = 1'000'000'000, kGuesses, kSearchOn, kBeside, kTrading };

class Pipeline {
 public:
  // What is referred to must outlive it. Throws InvalidInput as Optimize does.
  Pipeline(const LoadedGraph& loaded, const Machine& machine, const PlannerRegistry& planners,
           const OptimizeOptions& options, const OptimizeProgress& progress);

  // Every distinct op and fused group is timed, and the proxy goes by that. On targets that execute the model.
  void Profile();

  // Weights are made for the graph, and the learned planners are made anew with them.
  void Adapt();

  // The pool, and the baselines.
  void Propose();

  // Placements searched with shared links in mind.
  void ProposeForSharedLinks();

  // Where time is limited and the proxy is what the target computes, annealing goes on from the fastest plan so far.
  // What annealed beside the stages before ends as well.
  void SearchOn();

  // The best of the pool that differ, beside those for shared links.
  void Choose();

  // Plans for machines whose transfers are dearer than the machine file says.
  void ProposeForDearerTransfers();

  // Candidates are measured, poor ones less often. Never left out.
  void Race();

  // What the first times say of the proxy, and plans made for the corrected one, measured in turn.
  void Calibrate();

  // Where a run costs nothing: the best plan of each method and placements by hand are measured, and the best plan's
  // placement in all orders. What beats all candidates becomes one.
  void MeasureObvious();

  // Where the objective is not latency: plans that are slower and better at that, made from the pool and measured.
  void Trade();

  // The best candidate by the objective, and what the baselines took beside it.
  void ChooseBest();

  // The best plan and the baselines are measured again, interleaved.
  void Compare();

  OptimizeResult Finish();

 private:
  // Tells how far the run has come; `share` of the stage is done.
  void Tell(std::string_view stage, std::string_view method, double share);
  PoolWatch Watching(std::string_view stage);

  // The part of what is left for planning that the next stage may take; nothing where time is not limited.
  std::optional<double> PlanningSeconds(double share) const;

  // The end of everything that is done here: what is kept for the caller comes after it.
  Deadline End() const {
    return deadline_.Within(std::max(0.0, deadline_.Left() - options_.seconds_after - trading_seconds_));
  }

  // Finds out how long the target takes to make a plan ready, and keeps enough time for measuring.
  void TimeALoad();

  // Does the target take the times that the proxy predicts, for plans with many transfers, too?
  bool ProxyIsTarget(const CostedGraph& costed) const;

  // Is everything that is not searched on lost time?
  bool SearchesOn() const { return proxy_is_target_ && options_.methods.empty() && !LeftOut("search-on"); }

  // Is there time for plans under another proxy?
  bool TimeToPlanAgain() const;

  // Is the fastest plan of the pool as fast on the target as any plan can be, or a thousandth from it?
  bool IsBestPossible(const Pool& pool);
  double LeastSeconds(const Pool& pool, const PoolEntry& fastest);

  // Planners and budget of plans that are made for a proxy with other costs; `stream`: a number of its own each time.
  PoolOptions OptionsUnderGuess(std::uint64_t stream, double share) const;

  // How long choosing plans that differ may take.
  Deadline SelectingDeadline() const;

  void NoteTooSlow(const Pool& pool);

  // By entry of the pool, the worse of proxy and greedy execution.
  std::vector<double> RobustSeconds() const;
  void FindFragility(Candidate& candidate) const;

  // Which way of fusing the plan has; null where the pool has none of it.
  const PoolFusion* FusionOf(const Candidate& candidate) const;
  void Measure(double share, int sought_ones = 1);
  std::vector<OwnMode> OwnModes();

  // Fits transfers and durations to what was measured so far.
  void CorrectProxy(const Deadline& deadline);

  // What the records told of a run in an earlier process was its time alone.
  void RunForTimelines(const std::vector<Candidate*>& candidates);
  // The planner of the registry whose traits say so (PlannerTraits::goes_on), one that chooses fusion or not; null where
  // it cannot be made.
  std::unique_ptr<const Planner> PlannerThatGoesOn(bool chooses_fusion) const;

  bool LeftOut(std::string_view stage) const;

  // The model of the graph as it is known now that knows of no steering, and the one that planners see.
  std::unique_ptr<CostModel> FreeModel() const;
  std::unique_ptr<CostModel> SteeredModel() const;

  // By the proxy, where nobody has yet.
  void FindValue(Candidate& candidate) const;

  // Of those that are fast enough. Throws WorkFailed where none is.
  Candidate BestByObjective();

  // The candidates without which nobody could tell what a plan is worth come first; how many they are: the plan that
  // the proxy thinks fastest, and the baselines. What the target does by itself comes before all: no other plan may be
  // chosen unmeasured beside it.
  int PutObviousFirst();

  // Baselines that do not keep to the steering are run once, apart from the candidates.
  void MeasureFreeBaselines();

  // How often what the host moved our processors in the midst of is measured.
  static constexpr int kMostAttempts = 3;

  bool RoomToMeasureAgain() const;

  const LoadedGraph& loaded_;
  const Machine& machine_;  // as it was given; the result's has what was measured
  const OptimizeOptions& options_;
  const OptimizeProgress& progress_;
  const PlannerRegistry* planners_;
  PlannerRegistry adapted_;
  Deadline deadline_;
  Effort effort_;
  double trading_seconds_ = 0;       // kept for Trade, where time is limited
  double measuring_seconds_ = 0;     // kept for the stages that measure, where time is limited
  double load_seconds_ = 0;          // that a deterministic target takes for a plan, where time is limited
  bool proxy_is_target_ = false;     // found where time is limited: nothing is kept for what the proxy gets wrong
  double race_seconds_ = 0;          // of the longest race
  double done_ = 0;                  // share of the run that was told last
  ProcessorWatch processors_;        // ours, where plans run on them
  bool compared_elsewhere_ = false;  // they had moved between the last race and the final comparison
  OptimizeResult result_;
  std::unique_ptr<CostModel> estimate_;  // by the machine's rates
  std::unique_ptr<CostModel> proxy_;     // by measured times, where there are any
  std::unique_ptr<Target> target_;
  PoolOptions pool_options_;
  Pool pool_;
  std::optional<double> root_bound_;  // of the first pool's only groups, without a search
  FusionGroups searched_groups_;      // where an exact search was tried
  double searched_bound_ = 0;         // what it proved of all plans of those groups
  std::optional<PoolEntry> proven_;   // the fastest plan there is by the proxy; its groups are the pool's first
  bool proof_tried_ = false;
  bool settled_ = false;  // a plan is known that no other beats on the target
  std::optional<AnnealingBeside>
      beside_;  // while the pool is made and searched on from, where there is a thread for it
  std::vector<Baseline> baselines_;
  std::vector<TransferGuess> guesses_;
  Places places_;
  std::vector<Candidate> for_shared_links_;
  std::unique_ptr<Resume> resume_;
};

}  // namespace millrace
