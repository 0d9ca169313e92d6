// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/optimize.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/heuristics/fusion.h"
#include "millrace/optimize/baselines.h"
#include "millrace/optimize/contended_plans.h"
#include "millrace/optimize/duration_fit.h"
#include "millrace/optimize/guessed_plans.h"
#include "millrace/optimize/pool.h"
#include "millrace/optimize/race.h"
#include "millrace/optimize/resume.h"
#include "millrace/optimize/select.h"
#include "millrace/optimize/transfer_guess.h"
#include "millrace/plan/hash.h"
#include "millrace/runtime/host_units.h"
#include "millrace/simulate/bounds.h"
#include "millrace/target/measurement.h"
#include "millrace/target/statistics.h"
#include "millrace/target/target.h"

namespace millrace {
namespace {

// Shares of the time limit, and the effort, of each stage.
struct Effort {
  double profile_share = 0.4;
  double source_share = 0.05;     // of what is left after profiling, for each sampling or searching source
  double race_share = 0.7;        // of what is left after the pool
  double profile_seconds = 0.02;  // per group and kind
  double race_seconds = 60;
  double comparison_seconds = 60;
  int race_rounds = 20;
  int comparison_rounds = 30;
};

Effort EffortOf(const OptimizeOptions& options) {
  Effort effort;
  if (options.quick) {
    effort.profile_seconds = 0.005;
    effort.race_seconds = 10;
    effort.comparison_seconds = 10;
    effort.race_rounds = 8;
    effort.comparison_rounds = 15;
  }
  return effort;
}

// Ops and edges that one pass over the graph touches.
std::int64_t VisitsOfAPass(const ComputationGraph& graph) {
  std::int64_t visits = 1;
  for (OpId op = 0; op < graph.num_ops(); ++op) visits += 1 + static_cast<std::int64_t>(graph.Predecessors(op).size());
  return visits;
}

// Sampling costs a pass over the graph each, so very large graphs get fewer unless the user asks.
std::int64_t SamplesFor(const OptimizeOptions& options, const ComputationGraph& graph) {
  if (options.samples) return *options.samples;
  const std::int64_t most = options.quick ? 200 : 1000;
  constexpr std::int64_t kVisits = 20'000'000;
  return std::clamp<std::int64_t>(kVisits / VisitsOfAPass(graph), 16, most);
}

// Likewise every step of a search simulates the whole plan.
std::int64_t IterationsFor(const OptimizeOptions& options, const ComputationGraph& graph) {
  if (options.iterations) return *options.iterations;
  const std::int64_t visits = options.quick ? 200'000'000 : 1'000'000'000;
  return std::max<std::int64_t>(64, visits / VisitsOfAPass(graph));
}

std::size_t KeepPerSource(const ComputationGraph& graph) {
  constexpr std::size_t kGroupsKept = 2'000'000;
  return std::clamp<std::size_t>(kGroupsKept / static_cast<std::size_t>(std::max(1, graph.num_ops())), 2, 64);
}

bool ExecutesTheModel(const std::string& target) { return target == "cpu"; }

// The units of a machine we execute on ourselves are processors of this host.
std::vector<int> ProcessorsOf(const Machine& machine, const std::string& target) {
  return ExecutesTheModel(target) ? UnitsOf(machine) : std::vector<int>{};
}

// Measures the best plan and the baselines in turn, after the choice.
void Compare(Target& target, const Effort& effort, const Deadline& deadline, const OptimizeProgress& progress,
             OptimizeResult& result) {
  std::vector<Candidate*> compared{&result.best};
  for (BaselineResult& baseline : result.baselines) compared.push_back(&baseline.candidate);
  std::vector<std::unique_ptr<LoadedPlan>> loaded;
  std::vector<LoadedPlan*> plans;
  std::vector<Candidate*> running;
  double round_seconds = 0;
  for (Candidate* candidate : compared) {
    std::unique_ptr<LoadedPlan> plan = TryLoad(target, candidate->plan, &candidate->failure);
    if (plan == nullptr) continue;
    loaded.push_back(std::move(plan));
    plans.push_back(loaded.back().get());
    running.push_back(candidate);
    round_seconds += candidate->target_seconds.value_or(0);
  }
  MeasureOptions measure;
  measure.cpus = ProcessorsOf(result.machine, result.target);
  const double budget = std::min(effort.comparison_seconds, deadline.Left());
  measure.repetitions = target.deterministic()
                            ? 1
                            : static_cast<int>(std::clamp(budget / std::max(round_seconds, 1e-9), 3.0,
                                                          static_cast<double>(effort.comparison_rounds)));
  measure.warm_up = target.deterministic() ? 0 : 1;
  progress("compare", 0, 1);
  const std::vector<Measurement> measured = MeasureInterleaved(plans, measure);
  progress("compare", 1, 1);
  for (std::size_t i = 0; i < running.size(); ++i) {
    Candidate& candidate = *running[i];
    // A winner that fails now keeps what the race said of it; the failure is told.
    if (measured[i].failed) {
      result.warnings.push_back("the plan of " + candidate.method +
                                " failed when measured again: " + measured[i].error);
      continue;
    }
    candidate.times = measured[i].times;
    candidate.target_seconds = measured[i].median;
    candidate.disturbed = measured[i].disturbed;
    result.disturbed = result.disturbed || measured[i].disturbed;
  }
}

// The winner is whatever is fastest in the end, were it a baseline.
void YieldToFasterBaseline(OptimizeResult& result) {
  for (const BaselineResult& baseline : result.baselines) {
    if (!baseline.candidate.target_seconds || !result.best.target_seconds) continue;
    if (*baseline.candidate.target_seconds < *result.best.target_seconds) {
      const std::string method = baseline.name;
      result.best = baseline.candidate;
      result.best.method = method;
    }
  }
  for (BaselineResult& baseline : result.baselines) {
    if (baseline.candidate.times.empty() || result.best.times.empty()) continue;
    RatioOptions options;
    options.paired = baseline.candidate.times.size() == result.best.times.size();
    const Interval interval = RatioOfMedians(baseline.candidate.times, result.best.times, options);
    baseline.ratio = {interval.low, interval.high};
  }
}

void JudgeProxy(OptimizeResult& result) {
  std::vector<double> proxy, measured, errors;
  for (const Candidate& candidate : result.candidates) {
    if (!candidate.target_seconds) continue;
    proxy.push_back(candidate.proxy_seconds);
    measured.push_back(*candidate.target_seconds);
    if (*candidate.target_seconds > 0)
      errors.push_back(std::abs(candidate.proxy_seconds / *candidate.target_seconds - 1));
  }
  const double correlation = RankCorrelation(proxy, measured);
  if (!std::isnan(correlation)) result.proxy_rank_correlation = correlation;
  if (!errors.empty()) result.proxy_median_error = Median(errors);
}

void JudgePayback(OptimizeResult& result) {
  double fastest = std::numeric_limits<double>::infinity();
  for (const BaselineResult& baseline : result.baselines) {
    if (baseline.candidate.target_seconds) fastest = std::min(fastest, *baseline.candidate.target_seconds);
  }
  const double saved = fastest - result.best.target_seconds.value_or(fastest);
  if (std::isfinite(saved) && saved > 0) result.pays_back_after_runs = std::ceil(result.planning_seconds / saved);
}

const Candidate& FastestMeasured(const std::vector<Candidate>& candidates) {
  const Candidate* best = nullptr;
  for (const Candidate& candidate : candidates) {
    if (!candidate.target_seconds) continue;
    if (best == nullptr || *candidate.target_seconds < *best->target_seconds) best = &candidate;
  }
  if (best == nullptr) {
    throw WorkFailed("every measurement failed; the first said: " +
                     (candidates.empty() ? "nothing to measure" : candidates.front().failure));
  }
  return *best;
}

bool Contains(const std::vector<Candidate>& candidates, const Candidate& candidate) {
  return std::any_of(candidates.begin(), candidates.end(),
                     [&candidate](const Candidate& other) { return other.plan == candidate.plan; });
}

void AddUnlessKnown(const Candidate& candidate, std::vector<Candidate>& candidates) {
  if (!Contains(candidates, candidate)) candidates.push_back(candidate);
}

// How the top_k plans that may be measured are shared out: to the proxy as it is; to guesses at what it does not know;
// and to what the times of both say, once these are known. Few plans all go by the proxy.
struct Places {
  explicit Places(std::size_t top_k, std::size_t guesses) {
    constexpr std::size_t kFewest = 8;
    if (guesses == 0 || top_k < kFewest) {
      by_proxy = top_k;
      return;
    }
    after_fit = top_k / 3;
    per_guess = std::max<std::size_t>(1, top_k / 4 / guesses);
    by_proxy = top_k - after_fit - per_guess * guesses;
  }

  std::size_t by_proxy = 0, per_guess = 0, after_fit = 0;
};

// How the plans that are made after the first measurements are shared out over rounds of measuring and correcting.
constexpr std::size_t kPlacesPerRound = 5;
constexpr std::size_t kMostRounds = 4;

// What plans under a guess are made by: the quickest of the good ones, or those the user asked for. They are made for
// the fusion groups of the pool, which `go` would not keep to.
std::vector<std::string> GuessMethods(const OptimizeOptions& options, const ComputationGraph& graph) {
  constexpr std::int64_t kMostVisits = 1'000'000;
  std::vector<std::string> methods = options.methods;
  std::erase(methods, kOneShotName);
  if (!methods.empty()) return methods;
  if (VisitsOfAPass(graph) > kMostVisits) return {"heft"};
  return {"heft", HasWeights(options.sources) ? "gflownet+search" : "anneal"};
}

// Puts measured times in place of estimates in result.graph.
void Profile(const LoadedGraph& loaded, const Effort& effort, const OptimizeOptions& options, const Deadline& deadline,
             const OptimizeProgress& progress, OptimizeResult& result) {
  ProfileCache cache = options.profile_cache.empty() ? ProfileCache() : ProfileCache(options.profile_cache);
  if (!cache.warning().empty()) result.warnings.push_back(cache.warning());
  const double share = std::isfinite(deadline.Left()) ? effort.profile_share * deadline.Left() : deadline.Left();
  ProfileSummary summary;
  result.graph = ProfileGraph(
      *loaded.model, loaded.graph, result.machine, GreedyFusion(loaded.graph), {effort.profile_seconds}, cache,
      deadline.Within(share), [&progress](int done, int total) { progress("profile", done, total); }, summary);
  result.profile = summary;
  cache.Save();
  if (summary.left_out == 0) return;
  result.warnings.push_back(std::to_string(summary.left_out) + " of " + std::to_string(summary.distinct) +
                            " distinct op timings were left out for lack of time and are estimates");
}

// The plan with what the race found out about it.
Candidate AsRaced(const Candidate& plan, const std::vector<Candidate>& raced) {
  const auto found = std::find_if(raced.begin(), raced.end(),
                                  [&plan](const Candidate& candidate) { return candidate.plan == plan.plan; });
  Candidate candidate = found == raced.end() ? plan : *found;
  candidate.method = plan.method;
  return candidate;
}

}  // namespace

OptimizeResult Optimize(const LoadedGraph& loaded, const Machine& machine, const OptimizeOptions& options,
                        const OptimizeProgress& progress) {
  const Deadline deadline(options.time_limit);
  const Effort effort = EffortOf(options);
  OptimizeResult result;
  result.machine = machine;
  result.target = options.target;
  result.seed = options.seed;
  result.graph = loaded.graph;
  result.graph_hash = GraphHash(loaded.graph);

  const std::unique_ptr<CostModel> estimate = MakeAnalyticCostModel(loaded.graph, machine);
  TargetContext context{&loaded.graph, &machine, estimate.get(), loaded.model ? &*loaded.model : nullptr, options.seed};
  const std::unique_ptr<Target> target = MakeTarget(options.target, context);

  if (ExecutesTheModel(options.target) && options.profile) Profile(loaded, effort, options, deadline, progress, result);

  const std::unique_ptr<CostModel> proxy = MakeAnalyticCostModel(result.graph, machine);
  PoolOptions pool_options;
  pool_options.methods = options.methods;
  pool_options.samples = SamplesFor(options, result.graph);
  pool_options.iterations = IterationsFor(options, result.graph);
  pool_options.keep_per_source = KeepPerSource(result.graph);
  pool_options.seed = options.seed;
  pool_options.sources = options.sources;
  if (options.adapt) {
    progress("finetune", 0, 1);
    pool_options.sources.weights = options.adapt(result.graph);
    progress("finetune", 1, 1);
  }
  if (std::isfinite(deadline.Left())) pool_options.seconds = effort.source_share * deadline.Left();
  Pool pool = MakePool(*proxy, FusionChoices(*proxy), pool_options,
                       [&progress](int done, int total) { progress("propose", done, total); });
  const std::vector<Baseline> baselines = MakeBaselines(pool, machine);
  std::vector<TransferGuess> guesses = FirstGuesses(*proxy, machine);
  guesses.erase(guesses.begin());
  if (options.methods.empty() && !HasWeights(options.sources)) {
    result.warnings.emplace_back(
        "there are no weights of the learned sampler, whose plans are left out; name a file with --weights");
  }
  const Places places(options.top_k, guesses.size());
  std::vector<Candidate> for_shared_links;
  if (options.methods.empty() && places.per_guess > 0) {
    ContendedPlansOptions contended;
    contended.seconds = pool_options.seconds;
    contended.seed = options.seed;
    for_shared_links = ContendedPlans(
        pool, contended, [&progress](int done, int total) { progress("propose for shared links", done, total); });
    for_shared_links.resize(std::min(for_shared_links.size(), places.by_proxy / 2));
  }
  result.candidates = SelectDiverse(pool, machine, SelectOptions{.top_k = places.by_proxy - for_shared_links.size()});
  for (const Candidate& candidate : for_shared_links) AddUnlessKnown(candidate, result.candidates);
  PoolOptions guess_options = pool_options;
  guess_options.methods = GuessMethods(options, result.graph);
  guess_options.samples = std::max<std::int64_t>(1, pool_options.samples / 4);
  guess_options.iterations = IterationsFor(options, result.graph) / 4;
  for (std::size_t i = 0; places.per_guess > 0 && i < guesses.size(); ++i) {
    guess_options.seed = options.seed + 1 + i;
    for (const Candidate& candidate :
         PlansUnder(*GuessedModel(*proxy, machine, guesses[i]), machine, guess_options, places.per_guess, pool,
                    [&progress](int done, int total) { progress("propose for dearer transfers", done, total); }))
      AddUnlessKnown(candidate, result.candidates);
  }
  // Baselines go through the race too: if one of them is the fastest known plan, that is the answer.
  for (const Baseline& baseline : baselines) AddUnlessKnown(baseline.candidate, result.candidates);
  if (result.candidates.empty()) {
    throw WorkFailed("no plan found fits in the machine's memory (" + std::to_string(pool.infeasible) + " were tried)");
  }

  Resume resume(options.records, result.graph_hash, machine, *target, options.seed);
  result.recalled = resume.Recall(result.candidates);
  for (const std::string& warning : resume.warnings()) result.warnings.push_back(warning);
  RaceOptions race_options;
  race_options.rounds = effort.race_rounds;
  race_options.cpus = ProcessorsOf(machine, options.target);
  const auto race = [&](double share) {
    const double race_share =
        std::isfinite(deadline.Left()) ? share * effort.race_share * deadline.Left() : share * effort.race_seconds;
    Race(*target, result.candidates, race_options, deadline.Within(std::min(race_share, effort.race_seconds)),
         [&progress](int done, int total) { progress("measure", done, total); });
    resume.Note(result.candidates);
  };
  race(places.after_fit > 0 ? 0.6 : 1.0);

  // Every few measurements make the next plans' model better.
  const std::size_t rounds = std::clamp<std::size_t>(places.after_fit / kPlacesPerRound, 1, kMostRounds);
  for (std::size_t round = 0; places.after_fit > 0 && round < rounds; ++round) {
    const TransferFit transfers = FitTransfers(*proxy, machine, result.candidates);
    const std::unique_ptr<CostModel> with_transfers = GuessedModel(*proxy, machine, transfers.guess);
    const DurationFit durations = FitDurations(*with_transfers, machine, result.candidates);
    result.transfer_fit = transfers;
    result.duration_fit = durations;
    guess_options.seed = options.seed + 1 + guesses.size() + round;
    const std::size_t next = places.after_fit * (round + 1) / rounds - places.after_fit * round / rounds;
    std::vector<Candidate> corrected;
    for (const Candidate& candidate :
         PlansUnder(*CorrectedModel(*with_transfers, machine, durations), machine, guess_options, options.top_k, pool,
                    [&progress](int done, int total) { progress("propose for the corrected proxy", done, total); })) {
      if (corrected.size() < next && !Contains(result.candidates, candidate)) corrected.push_back(candidate);
    }
    result.recalled += resume.Recall(corrected);
    result.candidates.insert(result.candidates.end(), corrected.begin(), corrected.end());
    race(1.0);
  }
  result.proposed = pool.proposed;
  result.infeasible = pool.infeasible;

  result.best = FastestMeasured(result.candidates);
  for (const Baseline& baseline : baselines) {
    result.baselines.push_back(
        {baseline.name, baseline.meaning, AsRaced(baseline.candidate, result.candidates), {0, 0}});
  }
  result.planning_seconds = deadline.Elapsed();
  Compare(*target, effort, deadline, progress, result);
  YieldToFasterBaseline(result);
  JudgeProxy(result);
  JudgePayback(result);
  result.lower_bound_seconds = LowerBound(MakeCostedGraph(*proxy, result.best.plan.groups));
  result.fusion_free_bound_seconds = FusionFreeBound(result.graph, machine);
  return result;
}

}  // namespace millrace
