// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/pipeline.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/fusion/greedy_fusion.h"
#include "millrace/optimize/candidate_list.h"
#include "millrace/optimize/contended_plans.h"
#include "millrace/optimize/guessed_plans.h"
#include "millrace/optimize/judgement.h"
#include "millrace/optimize/select.h"
#include "millrace/plan/hash.h"
#include "millrace/simulate/bounds.h"

namespace millrace {
namespace {

// Streams of a run's one generator: no two stages, and no two seeds, share one.
enum Stream : std::uint64_t { kPool, kSharedLinks, kGuesses };

bool ExecutesTheModel(const std::string& target) { return target == "cpu"; }

// What plans under a guess are made by: the quickest of the good ones, or those the user asked for. They are made for
// the fusion groups of the pool, which planners that choose fusion would not keep to.
std::vector<std::string> GuessMethods(const PlannerRegistry& planners, const OptimizeOptions& options,
                                      const ComputationGraph& graph) {
  constexpr std::int64_t kMostVisits = 1'000'000;
  std::vector<std::string> methods = options.methods;
  std::erase_if(methods, [&planners](const std::string& name) { return planners.ChoosesFusion(name); });
  if (!methods.empty()) return methods;
  if (VisitsOfAPass(graph) > kMostVisits) return {"heft"};
  return {"heft", planners.Offers("gflownet+search") ? "gflownet+search" : "anneal"};
}

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
      options_(options),
      progress_(progress),
      planners_(&planners),
      deadline_(options.time_limit),
      effort_(EffortOf(options)) {
  result_.machine = machine;
  result_.target = options.target;
  result_.proxy = options.proxy.value_or(UsualProxy(machine));
  result_.seed = options.seed;
  result_.graph = loaded.graph;
  result_.graph_hash = GraphHash(loaded.graph);
  estimate_ = MakeAnalyticCostModel(loaded.graph, result_.machine, result_.proxy);
  const TargetContext context{&loaded.graph, &result_.machine, estimate_.get(), loaded.model ? &*loaded.model : nullptr,
                              options.seed};
  target_ = MakeTarget(options.target, context);
  proxy_ = MakeAnalyticCostModel(result_.graph, result_.machine, result_.proxy);
}

bool Pipeline::LeftOut(std::string_view stage) const {
  return std::find(options_.without.begin(), options_.without.end(), stage) != options_.without.end();
}

void Pipeline::Profile() {
  if (!ExecutesTheModel(options_.target)) return;
  ProfileCache cache = options_.profile_cache.empty() ? ProfileCache() : ProfileCache(options_.profile_cache);
  if (!cache.warning().empty()) result_.warnings.push_back(cache.warning());
  const double share = deadline_.Limited() ? effort_.profile_share * deadline_.Left() : deadline_.Left();
  ProfileSummary summary;
  result_.graph = ProfileGraph(
      *loaded_.model, loaded_.graph, result_.machine, GreedyFusion(loaded_.graph), {effort_.profile_seconds}, cache,
      deadline_.Within(share), [this](int done, int total) { progress_("profile", done, total); }, summary);
  result_.profile = summary;
  cache.Save();
  proxy_ = MakeAnalyticCostModel(result_.graph, result_.machine, result_.proxy);
  if (summary.left_out == 0) return;
  result_.warnings.push_back(std::to_string(summary.left_out) + " of " + std::to_string(summary.distinct) +
                             " distinct op timings were left out for lack of time and are estimates");
}

void Pipeline::Adapt() {
  if (!options_.adapt) return;
  progress_("finetune", 0, 1);
  adapted_ = options_.adapt(result_.graph);
  planners_ = &adapted_;
  progress_("finetune", 1, 1);
}

void Pipeline::Propose() {
  pool_options_.methods = options_.methods;
  pool_options_.settings = options_.settings;
  pool_options_.samples = SamplesFor(options_, result_.graph);
  pool_options_.iterations = IterationsFor(options_, result_.graph);
  pool_options_.keep_per_planner = KeepPerPlanner(result_.graph);
  pool_options_.random = Random(options_.seed).Fork(kPool);
  if (deadline_.Limited()) pool_options_.seconds = effort_.planner_share * deadline_.Left();
  pool_ = MakePool(*proxy_, *planners_, FusionOptions(*proxy_), pool_options_,
                   [this](int done, int total) { progress_("propose", done, total); });
  baselines_ = MakeBaselines(pool_, result_.machine);
  guesses_ = FirstGuesses(*proxy_, result_.machine);
  guesses_.erase(guesses_.begin());
  places_ = Places(options_.top_k, guesses_.size(), !LeftOut("dearer-transfers"), !LeftOut("calibrate"));
  if (!options_.methods.empty()) return;
  const std::string left_out = LeftOutForWeights(*planners_);
  if (!left_out.empty()) result_.warnings.push_back(left_out);
}

void Pipeline::ProposeForSharedLinks() {
  if (!options_.methods.empty() || !places_.many) return;
  ContendedPlansOptions contended;
  contended.seconds = pool_options_.seconds;
  contended.random = Random(options_.seed).Fork(kSharedLinks);
  for_shared_links_ = ContendedPlans(pool_, *planners_, contended, [this](int done, int total) {
    progress_("propose for shared links", done, total);
  });
  for_shared_links_.resize(std::min(for_shared_links_.size(), places_.by_proxy / 2));
}

void Pipeline::Choose() {
  result_.candidates = SelectDiverse(pool_, result_.machine, {.keep = places_.by_proxy - for_shared_links_.size()});
  for (const Candidate& candidate : for_shared_links_) AddUnlessKnown(candidate, result_.candidates);
}

PoolOptions Pipeline::OptionsUnderGuess(std::uint64_t stream) const {
  PoolOptions options = pool_options_;
  options.methods = GuessMethods(*planners_, options_, result_.graph);
  options.samples = std::max<std::int64_t>(1, pool_options_.samples / 4);
  options.iterations = IterationsFor(options_, result_.graph) / 4;
  options.random = Random(options_.seed).Fork(kGuesses).Fork(stream);
  return options;
}

void Pipeline::ProposeForDearerTransfers() {
  for (std::size_t guess = 0; places_.per_guess > 0 && guess < guesses_.size(); ++guess) {
    for (const Candidate& candidate :
         PlansUnder(*GuessedModel(*proxy_, result_.machine, guesses_[guess]), result_.machine, *planners_,
                    OptionsUnderGuess(guess), places_.per_guess, pool_,
                    [this](int done, int total) { progress_("propose for dearer transfers", done, total); }))
      AddUnlessKnown(candidate, result_.candidates);
  }
}

OptimizeResult Pipeline::Finish() {
  result_.proposed = pool_.proposed;
  result_.infeasible = pool_.infeasible;
  YieldToFasterBaseline(result_);
  JudgeProxy(result_);
  JudgePayback(result_);
  result_.lower_bound_seconds = LowerBound(MakeCostedGraph(*proxy_, result_.best.plan.groups));
  result_.fusion_free_bound_seconds = FusionFreeBound(result_.graph, result_.machine);
  return std::move(result_);
}

}  // namespace millrace
