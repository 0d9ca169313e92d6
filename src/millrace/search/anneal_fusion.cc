// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/anneal_fusion.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "millrace/cost/steering.h"
#include "millrace/fusion/fused_shares.h"
#include "millrace/fusion/fusion_problem.h"
#include "millrace/fusion/merged_fusion.h"
#include "millrace/heuristics/acyclic_clusters.h"
#include "millrace/heuristics/heuristics.h"
#include "millrace/heuristics/placement_orders.h"
#include "millrace/heuristics/placements.h"
#include "millrace/heuristics/plan_clusters.h"
#include "millrace/planning/best_of.h"
#include "millrace/planning/deadline.h"
#include "millrace/search/fuse_for_plan.h"
#include "millrace/search/placement_search.h"

namespace millrace {
namespace {

// Shares of the budget.
constexpr double kStartsShare = 0.15;   // of time: heuristics, and the groups that suit their plans
constexpr double kOpsShare = 0.25;      // annealing over single ops, and the groups that suit its plan
constexpr double kLapShare = 0.08;      // each halving of the starts
constexpr double kPlacingShare = 0.08;  // of clusters: a search for placements
constexpr double kClustersShare = 0.5;  // of clusters: annealing of the last start
constexpr double kFusingShare = 0.05;   // of clusters: the groups that suit the plan

constexpr std::int64_t kChangesPerPlacement = 20;  // about as many take as long as judging a placement

constexpr std::size_t kStarts = 8;
constexpr double kMostBehind = 1.2;  // of clusters: slower starts than so many times the fastest cost it its time
constexpr int kMostFusings = 40;     // tries of groups for a plan of a heuristic, or of clusters

// In the order in which they are worth having where time is short.
constexpr const char* kHeuristics[] = {"layer-cuts",    "placements",       "metis",
                                       "weighted-heft", "forward-backward", "heft"};

// What a search may spend: wall time, changes, or both.
class Purse {
 public:
  Purse(const Budget& budget, std::int64_t usual_changes) : deadline_(budget.seconds), whole_(budget) {
    if (!budget.iterations && !budget.seconds) whole_.iterations = usual_changes;
    left_ = whole_.iterations;
  }

  // This share of the whole, or of what is left of it if that is less. Its changes are spent.
  Budget Take(double share) {
    Budget part;
    if (deadline_.Limited()) part.seconds = std::min(deadline_.Left(), share * *whole_.seconds);
    if (left_) {
      part.iterations = std::min(*left_, static_cast<std::int64_t>(share * static_cast<double>(*whole_.iterations)));
      *left_ -= *part.iterations;
    }
    return part;
  }

  Budget TakeAll() { return Take(1); }

  // This share of the time, of something that tries no changes.
  std::optional<double> Seconds(double share) const {
    return deadline_.Limited() ? std::optional(share * *whole_.seconds) : std::nullopt;
  }

 private:
  Deadline deadline_;
  Budget whole_;
  std::optional<std::int64_t> left_;
};

class FusionSearch {
 public:
  FusionSearch(const AnnealOptions& options, const CostModel& model, FusionGroups apart, FusionGroups merged,
               const Budget& budget, Random& random)
      : purse_(budget, options.visits / model.graph().num_ops()),
        options_(options),
        model_(model),
        fusion_(model),
        apart_(std::move(apart)),
        merged_(std::make_shared<const CostedGraph>(MakeCostedGraph(model, std::move(merged)))),
        random_(random) {}

  // `known`: a plan beside those it begins with itself.
  void Search(std::optional<FusedPlan> known, const Offer& offer) {
    std::vector<FusedPlan> others;
    if (std::optional<FusedPlan> placed = PlaceClustersFirst(known)) {
      // Clusters along a known plan have begun with it.
      if (known && placed->makespan <= known->makespan) known.reset();
      starts_ = {*std::move(placed)};
      // Where time is too short for so many clusters the placement by hand of all groups may be faster.
      AddStart(kHeuristics[0], merged_, Deadline(purse_.Seconds(kFusingShare)));
      Sort(starts_);
      OfferTo(offer, starts_.front());
    } else {
      const CostedGraph apart = MakeCostedGraph(model_, apart_);
      AddStarts(apart, Deadline(purse_.Seconds(kStartsShare)));
      HalveStarts();
      if (!starts_.empty()) OfferTo(offer, starts_.front());
      others.push_back(PlaceOpsFirst(purse_.Take(kOpsShare)));
    }
    if (known) others.push_back(*std::move(known));
    AnnealEach(others, purse_.Take(kLapShare * static_cast<double>(others.size())));
    std::move(others.begin(), others.end(), std::back_inserter(starts_));
    Sort(starts_);
    starts_.resize(1);
    AnnealEach(starts_, purse_.TakeAll());
    OfferTo(offer, starts_.front());
  }

 private:
  static void OfferTo(const Offer& offer, const FusedPlan& plan) { offer({plan.assignment, plan.costed}); }

  // Fastest first; of equally fast ones the first.
  static void Sort(std::vector<FusedPlan>& plans) {
    std::stable_sort(plans.begin(), plans.end(),
                     [](const FusedPlan& a, const FusedPlan& b) { return a.makespan < b.makespan; });
  }

  void AddStarts(const CostedGraph& apart, const Deadline& deadline) {
    for (const char* name : kHeuristics) {
      if (!starts_.empty() && (deadline.Passed() || options_.stop.stop_requested())) break;
      if (std::optional<Assignment> plan = FastestOf(name, apart, deadline))
        starts_.push_back(Fused(apart, *plan, deadline));
      AddStart(name, merged_, deadline);
    }
    Sort(starts_);
    const auto same = [](const FusedPlan& a, const FusedPlan& b) { return a.makespan == b.makespan; };
    starts_.erase(std::unique(starts_.begin(), starts_.end(), same), starts_.end());
    starts_.resize(std::min(starts_.size(), kStarts));
  }

  // The plan that a heuristic makes of these groups.
  void AddStart(const char* name, const std::shared_ptr<const CostedGraph>& costed, const Deadline& deadline) {
    std::optional<Assignment> plan = FastestOf(name, *costed, deadline);
    if (!plan) return;
    const double makespan = SecondsIfItFits(*costed, *plan);
    starts_.push_back({costed, *std::move(plan), makespan});
  }

  FusedPlan Fused(const CostedGraph& parts, const Assignment& plan, const Deadline& deadline) const {
    int tries = 0;
    return FuseForPlan(fusion_, SpreadOverOps(parts, plan),
                       [&] { return deadline.Passed() || ++tries > kMostFusings || options_.stop.stop_requested(); });
  }

  // Each anneals for a while, the faster half goes on, until one is left.
  void HalveStarts() {
    for (std::size_t rest = kStarts; rest > 1 && !starts_.empty(); rest /= 2) {
      AnnealEach(starts_, purse_.Take(kLapShare));
      Sort(starts_);
      starts_.resize(std::min(starts_.size(), rest / 2));
    }
  }

  // Nothing where there are no clusters, or where no plan of theirs fits in memory once it is fused.
  std::optional<FusedPlan> PlaceClustersFirst(const std::optional<FusedPlan>& known) {
    if (merged_->num_groups <= kMostGroupsSearched) return std::nullopt;
    AddClusterStarts(known, Deadline(purse_.Seconds(kStartsShare)));
    HalveStarts();
    AnnealEach(starts_, purse_.Take(kClustersShare));
    if (starts_.empty()) return std::nullopt;
    const FusedPlan placed = std::move(starts_.front());
    starts_.clear();
    const bool along = known && placed.costed == along_known_;
    FusedPlan best = along ? OfParts(placed, known->costed, known->assignment.sequence)
                           : OfParts(placed, merged_, merged_->topological_order);
    FusedPlan fused = Fused(*placed.costed, placed.assignment, Deadline(purse_.Seconds(kFusingShare)));
    if (fused.makespan < best.makespan) best = std::move(fused);
    return std::isfinite(best.makespan) ? std::optional(std::move(best)) : std::nullopt;
  }

  // The plan of the groups that clusters are made of, those of a cluster in this order.
  static FusedPlan OfParts(const FusedPlan& clustered, std::shared_ptr<const CostedGraph> parts,
                           std::span<const int> order) {
    FusedPlan plan;
    plan.assignment = SpreadOverGroups(*clustered.costed, clustered.assignment, *parts, order);
    plan.makespan = SecondsIfItFits(*parts, plan.assignment);
    plan.costed = std::move(parts);
    return plan;
  }

  // A plan that is known has been searched for: what the heuristics make is not as good.
  void AddClusterStarts(const std::optional<FusedPlan>& known, const Deadline& deadline) {
    const bool contended = merged_->topology.proxy == Proxy::kContended;
    std::shared_ptr<const CostedGraph> clusters;  // of the graph, where they are used
    if (!known || contended)
      clusters = std::make_shared<const CostedGraph>(MakeClusteredGraph(model_, *merged_, kClustersSearched));
    if (known) {
      ClusteredPlan own = ClusterAlongPlan(model_, *known->costed, known->assignment, kClustersSearched);
      along_known_ = own.costed;
      AddIfItFits(std::move(own.costed), std::move(own.assignment));
    } else {
      AddPlacedByLayers();
      for (const char* name : kHeuristics) {
        if (!starts_.empty() && (deadline.Passed() || options_.stop.stop_requested())) break;
        AddStart(name, clusters, deadline);
      }
    }
    if (contended) AddFoundPlacement(clusters, purse_.Take(kPlacingShare));
    Sort(starts_);
    if (starts_.empty()) return;
    const double most = kMostBehind * starts_.front().makespan;
    std::erase_if(starts_, [most](const FusedPlan& start) { return start.makespan > most; });
  }

  // The placement by hand over clusters that it leaves whole, in the best of the orders that clusters allow: its own is
  // often a quarter slower there.
  void AddPlacedByLayers() {
    const std::vector<int> by_layers = PlaceByLayers(*merged_);
    auto clusters =
        std::make_shared<const CostedGraph>(MakeClusteredGraph(model_, *merged_, kClustersSearched, by_layers));
    const OpPlan of_ops = SpreadOverOps(*merged_, {by_layers, merged_->topological_order});
    Assignment plan = BestOfOrders(*clusters, PlacementByFirstOps(*clusters, of_ops)).assignment;
    AddIfItFits(std::move(clusters), std::move(plan));
  }

  void AddIfItFits(std::shared_ptr<const CostedGraph> clusters, Assignment plan) {
    const double makespan = SecondsIfItFits(*clusters, plan);
    if (std::isfinite(makespan)) starts_.push_back({std::move(clusters), std::move(plan), makespan});
  }

  // Where transfers contend a search for placements goes further at first than annealing.
  void AddFoundPlacement(const std::shared_ptr<const CostedGraph>& clusters, const Budget& budget) {
    PlacementSearchOptions search;
    search.judge = PlacementJudge::kProxy;
    search.stop = options_.stop;
    search.seconds = budget.seconds;
    if (budget.iterations) search.evaluations = *budget.iterations / kChangesPerPlacement;
    if (std::optional<FoundPlacement> found = SearchPlacement(*clusters, search, random_))
      starts_.push_back({clusters, std::move(found->assignment), found->makespan});
  }

  // Nothing where none fits in memory.
  std::optional<Assignment> FastestOf(const char* heuristic, const CostedGraph& costed, const Deadline& deadline) {
    constexpr double kOfRest = 0.2;
    Budget budget;
    if (deadline.Limited()) budget.seconds = kOfRest * deadline.Left();
    Random unused = random_;
    BestOf best = RunPlanner(*MakeHeuristic(heuristic), PlanningProblem(model_, costed), budget, unused, 1);
    if (best.kept.empty()) return std::nullopt;
    return std::move(best.kept.front().assignment);
  }

  FusedPlan PlaceOpsFirst(const Budget& budget) {
    constexpr double kFusing = 0.2;  // of the time, at most
    const Deadline deadline(budget.seconds);
    const std::unique_ptr<CostModel> shares = MakeFusedSharesModel(model_, merged_->groups);
    const CostedGraph costed = MakeCostedGraph(*shares, apart_);
    Budget annealing = budget;
    if (budget.seconds) annealing.seconds = (1 - kFusing) * deadline.Left();
    const Assignment placed = Annealed(PlanningProblem(*shares, costed), annealing);
    return FuseForPlan(fusion_, SpreadOverOps(costed, placed),
                       [&] { return deadline.Passed() || options_.stop.stop_requested(); });
  }

  // Each for the same part of it.
  void AnnealEach(std::vector<FusedPlan>& plans, Budget budget) {
    if (plans.empty()) return;
    const Deadline deadline(budget.seconds);
    auto left = static_cast<std::int64_t>(plans.size());
    if (budget.iterations) *budget.iterations /= left;
    for (FusedPlan& plan : plans) {
      if (budget.seconds) budget.seconds = deadline.Left() / static_cast<double>(left--);
      plan.assignment = Annealed(PlanningProblem(model_, *plan.costed).WithStart(plan.assignment), budget);
      plan.makespan = SecondsIfItFits(*plan.costed, plan.assignment);
    }
  }

  // What annealing offers last, its best.
  Assignment Annealed(const PlanningProblem& problem, const Budget& budget) {
    Assignment best;
    Random stream = random_.Fork(++streams_);
    MakeAnnealing(options_)->Propose(problem, budget, stream,
                                     [&best](ProposedPlan offered) { best = std::move(offered.assignment); });
    return best;
  }

  Purse purse_;  // the first: its time begins before groups are priced
  const AnnealOptions& options_;
  const CostModel& model_;
  const FusionProblem fusion_;
  const FusionGroups apart_;
  const std::shared_ptr<const CostedGraph> merged_;
  Random& random_;
  std::uint64_t streams_ = 0;
  std::vector<FusedPlan> starts_;
  std::shared_ptr<const CostedGraph> along_known_;  // clusters along a plan that is known
};

class AnnealingFusion final : public Planner {
 public:
  explicit AnnealingFusion(const AnnealOptions& options) : Planner(AnnealingFusionTraits()), options_(options) {}

  void Propose(const PlanningProblem& problem, const Budget& budget, Random& random,
               const Offer& offer) const override {
    const CostModel& model = problem.proxy();
    if (!problem.fusion_open()) {
      MakeAnnealing(options_)->Propose(problem, budget, random, offer);
      return;
    }
    const Deadline deadline(budget.seconds);
    FusionGroups apart = UnfusedGroups(model);
    FusionGroups merged = MergedFusion(model);
    const bool none_join = merged.size() == apart.size();
    Budget rest = budget;
    if (!none_join) {
      std::optional<FusedPlan> known;
      if (problem.start_groups() != nullptr)
        known = {std::make_shared<const CostedGraph>(*problem.start_groups()), *problem.start()};
      if (budget.seconds) rest.seconds = deadline.Left();
      FusionSearch search(options_, model, std::move(apart), std::move(merged), rest, random);
      search.Search(std::move(known), offer);
      return;
    }
    const auto costed = std::make_shared<const CostedGraph>(MakeCostedGraph(model, std::move(apart)));
    if (budget.seconds) rest.seconds = deadline.Left();
    MakeAnnealing(options_)->Propose(PlanningProblem(model, *costed), rest, random, [&](ProposedPlan offered) {
      offer({std::move(offered.assignment), costed});
    });
  }

 private:
  AnnealOptions options_;
};

}  // namespace

PlannerTraits AnnealingFusionTraits() {
  return {.name = "anneal+fusion",
          .meaning = "simulated annealing with fusion open, from several starts",
          .takes_iterations = true,
          .chooses_fusion = true,
          .any_groups = true,
          .goes_on = true,
          .most_pool_visits = 1'000'000,
          .seconds_per_visit = 3e-6,
          .pool_share = 2};
}

bool TimeToOpenFusion(const CostedGraph& costed, double seconds) {
  constexpr double kMostVisitsASecond = 20'000;
  return static_cast<double>(costed.Visits()) <= kMostVisitsASecond * seconds;
}

std::unique_ptr<Planner> MakeAnnealingFusion(const AnnealOptions& options) {
  return std::make_unique<AnnealingFusion>(options);
}

}  // namespace millrace
