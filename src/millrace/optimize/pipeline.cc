// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/pipeline.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/heuristics/heuristics.h"
#include "millrace/heuristics/list_schedulers.h"
#include "millrace/optimize/candidate_list.h"
#include "millrace/optimize/contended_plans.h"
#include "millrace/optimize/guessed_plans.h"
#include "millrace/optimize/judgement.h"
#include "millrace/optimize/search_on.h"
#include "millrace/optimize/select.h"
#include "millrace/plan/hash.h"
#include "millrace/planning/best_of.h"
#include "millrace/search/exact.h"
#include "millrace/simulate/bounds.h"
#include "millrace/simulate/greedy.h"
#include "millrace/simulate/proven_bound.h"
#include "millrace/target/measurement.h"

namespace millrace {
namespace {

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

std::optional<double> TimeLimitOf(const OptimizeOptions& options, const ComputationGraph& graph) {
  std::optional<double> limit = options.time_limit;
  if (!limit && options.quick) limit = QuickSeconds(graph);
  if (limit) *limit = std::max(0.0, *limit - options.seconds_before);
  return limit;
}

// What plans under a guess are made by: the quickest of the good ones, or those the user asked for. They are made for
// the fusion groups of the pool, which planners that choose fusion would not keep to.
std::vector<std::string> GuessMethods(const PlannerRegistry& planners, const OptimizeOptions& options,
                                      const ComputationGraph& graph) {
  constexpr std::int64_t kMostVisits = 1'000'000;
  std::vector<std::string> methods = options.methods;
  std::erase_if(methods, [&planners](const std::string& name) { return planners.ChoosesFusion(name); });
  if (!methods.empty()) return methods;
  if (VisitsOfAPass(graph) > kMostVisits) return {"heft"};
  return {"heft", "forward-backward", "weighted-heft", "placements",
          planners.Offers("gflownet+search") ? "gflownet+search" : "anneal"};
}

// How much of a run each stage takes, about, where no time limit says so: its beginning and end.
struct Stretch {
  std::string_view stage;
  double begin, end;
};
constexpr Stretch kStretches[] = {{"profile", 0, 0.2},
                                  {"finetune", 0.2, 0.25},
                                  {"propose", 0.25, 0.7},
                                  {"propose for shared links", 0.7, 0.8},
                                  {"search on", 0.8, 0.8},
                                  {"propose for dearer transfers", 0.8, 0.85},
                                  {"measure", 0.85, 0.95},
                                  {"trade latency", 0.9, 0.95},
                                  {"propose for the corrected proxy", 0.9, 0.95},
                                  {"compare", 0.95, 1}};

// Nearer to a lower bound than this a plan is as good as any; where the user says how much is to be done, but for
// rounding.
double AsGood(const OptimizeOptions& options) { return options.samples || options.iterations ? 1 + 1e-9 : 1 + 1e-3; }

// Graphs that branch and bound is asked to settle, and how long it tries.
constexpr int kMostGroupsToProve = 32;
constexpr std::int64_t kNodesToProve = 100'000;

// One line where planners of the usual pool cannot be made here.
std::string LeftOutForWeights(const PlannerRegistry& planners) {
  std::string names;
  for (const PlannerEntry& entry : planners.entries()) {
    if (entry.traits.in_pool && !planners.Offers(entry.traits.name))
      names += (names.empty() ? "" : ", ") + entry.traits.name;
  }
  return names.empty() ? ""
                       : "there are no weights of " + names + ", whose plans are left out; name a file with --weights";
}

}  // namespace

Places::Places(std::size_t top_k, std::size_t guesses, bool guessing, bool calibrating) {
  constexpr std::size_t kFewest = 8;
  many = guesses > 0 && top_k >= kFewest;
  if (many && calibrating) after_fit = top_k / 3;
  if (many && guessing) per_guess = std::max<std::size_t>(1, top_k / 4 / guesses);
  by_proxy = top_k - after_fit - per_guess * guesses;
}

Pipeline::Pipeline(const LoadedGraph& loaded, const Machine& machine, const PlannerRegistry& planners,
                   const OptimizeOptions& options, const OptimizeProgress& progress)
    : loaded_(loaded),
      machine_(machine),
      options_(options),
      progress_(progress),
      planners_(&planners),
      deadline_(TimeLimitOf(options, loaded.graph)),
      effort_(EffortOf(options)) {
  result_.machine = machine;
  result_.target = options.target;
  result_.proxy = options.proxy.value_or(UsualProxy(machine));
  result_.seed = options.seed;
  result_.robust = options.robust;
  result_.objective = options.objective;
  result_.graph = loaded.graph;
  result_.graph_hash = GraphHash(loaded.graph);
  estimate_ = MakeAnalyticCostModel(loaded.graph, result_.machine, result_.proxy);
  const TargetContext context{&loaded.graph, &result_.machine, estimate_.get(), loaded.model ? &*loaded.model : nullptr,
                              options.seed,  options.ranks};
  target_ = MakeTarget(options.target, context);
  CheckSteering(*estimate_, result_.machine, options.steering);
  proxy_ = SteeredModel();
}

std::unique_ptr<CostModel> Pipeline::FreeModel() const {
  return MakeAnalyticCostModel(result_.graph, result_.machine, result_.proxy);
}

std::unique_ptr<CostModel> Pipeline::SteeredModel() const {
  return MakeSteeredCostModel(FreeModel(), options_.steering);
}

void Pipeline::Tell(std::string_view stage, std::string_view method, double share) {
  OptimizeStep step{stage, method, done_, std::nullopt};
  if (deadline_.Limited()) {
    step.done = std::max(done_, std::min(1.0, deadline_.Gone()));
    step.seconds_left = deadline_.Left();
  } else {
    const auto* const stretch = std::find_if(std::begin(kStretches), std::end(kStretches),
                                             [stage](const Stretch& other) { return other.stage == stage; });
    if (stretch != std::end(kStretches))
      step.done = std::max(done_, stretch->begin + std::clamp(share, 0.0, 1.0) * (stretch->end - stretch->begin));
  }
  done_ = step.done;
  if (progress_) progress_(step);
}

PoolWatch Pipeline::Watching(std::string_view stage) {
  PoolWatch watch;
  watch.progress = [this, stage](std::string_view method, int done, int total) {
    Tell(stage, method, total > 0 ? static_cast<double>(done) / total : 1.0);
  };
  return watch;
}

std::optional<double> Pipeline::PlanningSeconds(double share) const {
  if (!deadline_.Limited()) return std::nullopt;
  return share * std::max(0.0, End().Left() - measuring_seconds_);
}

void Pipeline::TimeALoad() {
  if (!deadline_.Limited()) return;
  // Every plan is made ready once, those that compete in transfers at a higher price than one that has none.
  constexpr double kDearer = 1.5;
  constexpr std::size_t kMostBaselines = 4;
  const CostedGraph costed = MakeCostedGraph(*proxy_, UnfusedGroups(*proxy_));
  const Assignment plain = ScheduleSequential(costed).assignment;
  measuring_seconds_ = effort_.measuring_share * End().Left();
  const auto seconds_of_a_load = [&] {
    const Deadline clock;
    std::string unused;
    TryLoad(*target_, {costed.groups, plain.placement, plain.sequence}, &unused);
    return clock.Elapsed();
  };
  if (!target_->deterministic()) {
    if (!target_->runs_on_our_units()) return;
    const double most = effort_.most_measuring_share * End().Left();
    const double needed = static_cast<double>(1 + kMostBaselines) * seconds_of_a_load();
    measuring_seconds_ = std::max(measuring_seconds_, std::min(needed, most));
    return;
  }
  // The first plan of some groups is dearer than those after it.
  const double first_seconds = seconds_of_a_load();
  load_seconds_ = kDearer * std::min(first_seconds, seconds_of_a_load());
  measuring_seconds_ = std::min(measuring_seconds_,
                                first_seconds + load_seconds_ * static_cast<double>(options_.top_k + kMostBaselines));
  proxy_is_target_ = !options_.robust && ProxyIsTarget(costed);
  if (!proxy_is_target_) return;
  const bool contended = proxy_->topology().proxy == Proxy::kContended;
  effort_.pool_share = effort_.shared_links_share =
      contended ? effort_.exact_contended_share : effort_.exact_linear_share;
}

bool Pipeline::ProxyIsTarget(const CostedGraph& costed) const {
  const auto as_predicted = [&](const ProposedPlan& planned) {
    std::string unused;
    const std::unique_ptr<LoadedPlan> loaded =
        TryLoad(*target_, {costed.groups, planned.assignment.placement, planned.assignment.sequence}, &unused);
    if (loaded == nullptr) return true;  // it does not fit in memory, which says nothing of times
    const double predicted = Simulator(costed).Makespan(planned.assignment);
    return std::abs(TryRun(*loaded, &unused).value_or(kCannotRun) - predicted) <= 1e-9 * predicted;
  };
  bool same = true;
  Random random(options_.seed);
  Budget budget;
  budget.samples = 2;
  for (const char* name : {"random", "heft"}) {
    MakeHeuristic(name)->Propose(PlanningProblem(*proxy_, costed), budget, random,
                                 [&](const ProposedPlan& planned) { same = same && as_predicted(planned); });
  }
  return same;
}

// By the proxy, which the target's times are never below where it keeps bounds.
double Pipeline::LeastSeconds(const Pool& pool, const PoolEntry& fastest) {
  // Several ways of fusing: what holds for all of them.
  if (pool.fusions.size() > 1) return FusionFreeBound(result_.graph, result_.machine);
  const CostedGraph& costed = pool.fusions.front().costed;
  if (!root_bound_) root_bound_ = ProvenBound(costed);
  const double bound = *root_bound_;
  if (fastest.proxy_seconds <= AsGood(options_) * bound || costed.num_groups > kMostGroupsToProve) return bound;
  if (!proof_tried_) {
    proof_tried_ = true;
    Random random(options_.seed);
    ExactOptions exact;
    exact.nodes = kNodesToProve;
    exact.seconds = PlanningSeconds(effort_.pool_share);
    exact.start = fastest.assignment;
    ExactResult solved = SolveExactly(costed, exact, random);
    searched_groups_ = costed.groups;
    searched_bound_ = solved.bound;
    if (solved.proven && solved.best)
      proven_ = PoolEntry{0, "exact", std::move(solved.best->assignment), solved.best->makespan};
  }
  return proven_ ? proven_->proxy_seconds : bound;
}

bool Pipeline::IsBestPossible(const Pool& pool) {
  if (!target_->deterministic() || !target_->keeps_bounds() || pool.entries.empty()) return false;
  const PoolEntry* fastest =
      &*std::min_element(pool.entries.begin(), pool.entries.end(),
                         [](const PoolEntry& a, const PoolEntry& b) { return a.proxy_seconds < b.proxy_seconds; });
  const double least = LeastSeconds(pool, *fastest);
  if (proven_ && proven_->proxy_seconds < fastest->proxy_seconds) fastest = &*proven_;
  if (fastest->proxy_seconds > AsGood(options_) * least) return false;
  std::string failure;
  const std::unique_ptr<LoadedPlan> loaded = TryLoad(*target_, MakeCandidate(pool, *fastest).plan, &failure);
  settled_ = loaded != nullptr && TryRun(*loaded, &failure).value_or(kCannotRun) <= AsGood(options_) * least;
  return settled_;
}

bool Pipeline::LeftOut(std::string_view stage) const {
  return std::find(options_.without.begin(), options_.without.end(), stage) != options_.without.end();
}

void Pipeline::Adapt() {
  if (!options_.adapt) return;
  Tell("finetune", "", 0);
  adapted_ = options_.adapt(result_.graph);
  planners_ = &adapted_;
}

void Pipeline::Propose() {
  Tell("propose", "", 0);
  constexpr double kTradingShare = 0.4;
  if (deadline_.Limited() && options_.objective.aim != Objective::Aim::kLatency)
    trading_seconds_ = kTradingShare * End().Left();
  TimeALoad();
  const std::vector<FusionOption> fusions = FusionOptions(*proxy_);
  pool_options_.methods = options_.methods;
  pool_options_.settings = options_.settings;
  pool_options_.samples = SamplesFor(options_, result_.graph);
  if (!options_.samples) pool_options_.samples /= static_cast<std::int64_t>(fusions.size());
  pool_options_.samples = std::max<std::int64_t>(1, pool_options_.samples);
  // Where the user limits time, searches go on as long as they may.
  if (options_.iterations || !options_.time_limit) pool_options_.iterations = IterationsFor(options_, result_.graph);
  pool_options_.keep_per_planner = KeepPerPlanner(result_.graph);
  // What anneals beside draws as annealing by itself would, so the pool draws otherwise.
  const bool beside = SearchesOn() && options_.threads > 1;
  pool_options_.random = beside ? Random(options_.seed).Fork(kBeside) : Random(options_.seed);
  pool_options_.share_starts = options_.methods.empty();
  pool_options_.seconds = PlanningSeconds(options_.methods.empty() ? effort_.pool_share : 1);
  PoolWatch watch = Watching("propose");
  watch.enough = [this](const Pool& pool) { return IsBestPossible(pool); };
  if (beside)
    beside_.emplace(*proxy_, fusions, PlanningSeconds(effort_.beside_share).value_or(0), Random(options_.seed));
  pool_ = MakePool(*proxy_, *planners_, fusions, pool_options_, watch);
  if (proven_) pool_.entries.push_back(*proven_);
  NoteTooSlow(pool_);
  baselines_ = options_.steering.empty()
                   ? MakeBaselines(pool_, result_.machine)
                   : MakeSteeredBaselines(pool_, result_.machine, *FreeModel(), options_.steering);
  guesses_ = FirstGuesses(*proxy_, result_.machine);
  guesses_.erase(guesses_.begin());
  places_ = Places(options_.top_k, guesses_.size(), !proxy_is_target_ && !LeftOut("dearer-transfers"),
                   !proxy_is_target_ && !LeftOut("calibrate"));
  if (!options_.methods.empty()) return;
  const std::string left_out = LeftOutForWeights(*planners_);
  if (!left_out.empty()) result_.warnings.push_back(left_out);
}

void Pipeline::NoteTooSlow(const Pool& pool) {
  if (pool.too_slow.empty()) return;
  std::string names;
  for (const std::string& name : pool.too_slow) names += (names.empty() ? "" : ", ") + name;
  result_.warnings.push_back("the time limit leaves no time for " + names);
}

void Pipeline::ProposeForSharedLinks() {
  if (settled_ || !options_.methods.empty() || !places_.many) return;
  // The target is what the proxy says it is: nothing waits there for shared links.
  if (proxy_is_target_ && proxy_->topology().proxy == Proxy::kLinear) return;
  ContendedPlansOptions contended;
  contended.seconds = PlanningSeconds(effort_.shared_links_share);
  if (options_.time_limit && !options_.iterations) contended.most_tries = contended.visits = kNoLimit;
  contended.random = Random(options_.seed).Fork(kSharedLinks);
  Tell("propose for shared links", "contended-search", 0);
  for_shared_links_ = ContendedPlans(pool_, *planners_, contended, [this](int done, int total) {
    Tell("propose for shared links", "contended-search", static_cast<double>(done) / total);
  });
  if (options_.robust) {
    contended.judge = PlacementJudge::kGreedy;
    contended.seconds = PlanningSeconds(effort_.shared_links_share);
    for (Candidate& candidate : ContendedPlans(pool_, *planners_, contended, [this](int done, int total) {
           Tell("propose for shared links", "greedy-search", static_cast<double>(done) / total);
         }))
      for_shared_links_.push_back(std::move(candidate));
  }
  for_shared_links_.resize(std::min(for_shared_links_.size(), places_.by_proxy / 2));
}

std::unique_ptr<const Planner> Pipeline::PlannerThatGoesOn(bool chooses_fusion) const {
  for (const PlannerEntry& entry : planners_->entries()) {
    const PlannerTraits& traits = entry.traits;
    if (traits.goes_on && traits.chooses_fusion == chooses_fusion && planners_->Offers(traits.name))
      return planners_->Make(traits.name);
  }
  return nullptr;
}

void Pipeline::SearchOn() {
  if (settled_ || pool_.entries.empty()) beside_.reset();
  if (settled_ || !SearchesOn() || pool_.entries.empty()) return;
  PoolEntry best = *std::min_element(pool_.entries.begin(), pool_.entries.end(),
                                     [](const auto& a, const auto& b) { return a.proxy_seconds < b.proxy_seconds; });
  for (const Candidate& candidate : for_shared_links_) {
    const PoolFusion* const fusion = FusionOf(candidate);
    if (fusion != nullptr && candidate.proxy_seconds < best.proxy_seconds) {
      best = {static_cast<int>(fusion - pool_.fusions.data()),
              candidate.method,
              {candidate.plan.placement, candidate.plan.sequence},
              candidate.proxy_seconds};
    }
  }
  const std::unique_ptr<const Planner> first = PlannerThatGoesOn(false);
  const std::unique_ptr<const Planner> open = PlannerThatGoesOn(true);
  const SearchOnOptions on{.seconds = PlanningSeconds(effort_.search_on_share).value_or(0),
                           .threads = beside_ ? options_.threads - 1 : options_.threads,
                           .first = first.get(),
                           .open = open.get(),
                           .random = Random(options_.seed).Fork(kSearchOn),
                           .begins = [this](const std::string& method) { Tell("search on", method, 0); }};
  std::optional<PoolEntry> found = SearchOnFrom(*proxy_, pool_, best, on);
  if (found) pool_.entries.push_back(*std::move(found));
  if (!beside_) return;
  found = beside_->Stop(pool_);
  if (found) pool_.entries.push_back(*std::move(found));
}

void Pipeline::Choose() {
  const DiverseOptions diverse{.keep = places_.by_proxy - for_shared_links_.size()};
  result_.candidates = SelectDiverse(pool_, result_.machine, diverse, SelectingDeadline(),
                                     options_.robust ? RobustSeconds() : std::vector<double>());
  for (const Candidate& candidate : for_shared_links_) AddUnlessKnown(candidate, result_.candidates);
}

std::vector<double> Pipeline::RobustSeconds() const {
  const Deadline deadline = SelectingDeadline();
  std::vector<double> seconds;
  seconds.reserve(pool_.entries.size());
  for (const PoolEntry& entry : pool_.entries) {
    const CostedGraph& costed = pool_.fusions[static_cast<std::size_t>(entry.fusion)].costed;
    seconds.push_back(entry.proxy_seconds);
    if (!deadline.Passed())
      seconds.back() = std::max(seconds.back(), GreedyTimeline(costed, entry.assignment).makespan);
  }
  return seconds;
}

const PoolFusion* Pipeline::FusionOf(const Candidate& candidate) const {
  const auto found = std::find_if(pool_.fusions.begin(), pool_.fusions.end(), [&candidate](const PoolFusion& fusion) {
    return fusion.costed.groups == candidate.plan.groups;
  });
  return found == pool_.fusions.end() ? nullptr : &*found;
}

void Pipeline::FindFragility(Candidate& candidate) const {
  const PoolFusion* const fusion = FusionOf(candidate);
  if (fusion != nullptr)
    candidate.fragility = Fragility(fusion->costed, {candidate.plan.placement, candidate.plan.sequence});
}

Deadline Pipeline::SelectingDeadline() const { return Deadline(PlanningSeconds(0.5)); }

PoolOptions Pipeline::OptionsUnderGuess(std::uint64_t stream, double share) const {
  PoolOptions options = pool_options_;
  options.methods = GuessMethods(*planners_, options_, result_.graph);
  options.samples = std::max<std::int64_t>(1, pool_options_.samples / 4);
  options.iterations = IterationsFor(options_, result_.graph) / 4;
  options.seconds = PlanningSeconds(share);
  options.random = Random(options_.seed).Fork(kGuesses).Fork(stream);
  return options;
}

bool Pipeline::TimeToPlanAgain() const {
  constexpr double kFewestPlans = 10;
  const std::optional<double> seconds = PlanningSeconds(1);
  return !seconds || *seconds > kFewestPlans * load_seconds_;
}

void Pipeline::ProposeForDearerTransfers() {
  if (settled_) return;
  constexpr std::string_view kStage = "propose for dearer transfers";
  for (std::size_t guess = 0; places_.per_guess > 0 && guess < guesses_.size() && TimeToPlanAgain(); ++guess) {
    const double share = effort_.guesses_share / static_cast<double>(guesses_.size() - guess);
    for (const Candidate& candidate :
         PlansUnder(*GuessedModel(*proxy_, result_.machine, guesses_[guess]), result_.machine, *planners_,
                    OptionsUnderGuess(guess, share), places_.per_guess, pool_, Watching(kStage)))
      AddUnlessKnown(candidate, result_.candidates);
  }
}

OptimizeResult Pipeline::Finish() {
  result_.processor_moves = processors_.moves();
  if (const std::optional<std::string> warning = processors_.Warning()) result_.warnings.push_back(*warning);
  result_.proposed = pool_.proposed;
  result_.infeasible = pool_.infeasible;
  for (BaselineResult& baseline : result_.baselines) {
    if (baseline.keeps) FindFragility(baseline.candidate);
  }
  FindFragility(result_.best);
  YieldToFasterBaseline(result_, target_->usual_baseline(), target_->deterministic() ? Times::kRepeat : Times::kVary);
  // What was measured in other places does not compare with the candidates' times.
  if (!compared_elsewhere_) KeepFinalTimes(result_);
  JudgeProxy(result_);
  if (!target_->deterministic()) result_.in_context = JudgeContext(*proxy_, result_.machine, result_.candidates);
  // The best plan and the baselines keep theirs; those of all others would fill result.json.
  for (Candidate& candidate : result_.candidates) {
    candidate.measured.reset();
    candidate.group_seconds.clear();
  }
  JudgePayback(result_);
  const PoolFusion* const known = FusionOf(result_.best);
  const CostedGraph made = known == nullptr ? MakeCostedGraph(*proxy_, result_.best.plan.groups) : CostedGraph();
  const CostedGraph& costed = known == nullptr ? made : known->costed;
  result_.lower_bound_seconds = LowerBound(costed);
  const bool has_root_bound = root_bound_ && known == pool_.fusions.data();
  result_.proven_bound_seconds = has_root_bound ? *root_bound_ : ProvenBound(costed);
  if (costed.groups == searched_groups_)
    result_.proven_bound_seconds = std::max(result_.proven_bound_seconds, searched_bound_);
  result_.fusion_free_bound_seconds = FusionFreeBound(result_.graph, result_.machine);
  return std::move(result_);
}

}  // namespace millrace
