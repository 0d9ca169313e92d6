// SPDX-License-Identifier: Apache-2.0
#include "millrace/go/guided_search.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "millrace/cost/steering.h"
#include "millrace/fusion/merged_fusion.h"
#include "millrace/go/moves.h"
#include "millrace/go/sampler.h"
#include "millrace/heuristics/acyclic_clusters.h"
#include "millrace/heuristics/placed_list.h"
#include "millrace/heuristics/placement_orders.h"
#include "millrace/heuristics/placements.h"
#include "millrace/planning/deadline.h"
#include "millrace/search/fuse_for_plan.h"
#include "millrace/search/placement_search.h"
#include "millrace/search/role_descent.h"
#include "millrace/simulate/memory_check.h"

namespace millrace {
namespace {

// Shares of a time limit: until then it joins ops for starts, probes these, searches, and joins ops anew.
constexpr double kStartsUntil = 0.1;
constexpr double kProbedUntil = 0.4;
constexpr double kFirstLegUntil = 0.6;
constexpr double kFusedUntil = 0.7;

constexpr double kTimesForParts = 12;  // of a large graph it has so many times what all parts of it take, if it may

// Of a graph of many groups (kMostGroupsSearched) clusters and all groups are probed instead.
constexpr double kClusteredUntil = 0.25;
constexpr double kWholeUntil = 0.5;
constexpr double kMostForParts = 0.5;  // of the time: where one pass over all parts takes more, clusters are left alone
constexpr int kLooksForStarts = 20;    // without a time limit: there are so many looks at least where starts are probed
constexpr int kLooksInClusters = 2;    // times those at all groups, which take so much longer to order

constexpr double kColdest = 0.05;  // times the usual temperatures

constexpr int kLooksToProbe = 4;        // where it looks less often, or is short of time, the fastest start is taken
constexpr int kLooksPerProbe = 8;       // a probe has one for so many of all
constexpr int kLooksPerFusing = 4;      // groups for a plan are tried once for so many of all
constexpr double kSecondLegHeat = 0.5;  // of the first leg's temperatures

class GuidedSearch {
 public:
  GuidedSearch(const GoDecoder& decoder, const GoPolicy& policy, const GuidedSearchOptions& options, Random& random)
      : decoder_(decoder),
        policy_(policy.Prepare(decoder.problem(), LoopOf(options.threads))),
        options_(options),
        random_(random),
        seconds_(options.seconds) {
    constexpr std::int64_t kOps = 200'000, kFewest = 2;
    const std::int64_t most = std::max(kFewest, kOps / decoder.problem().num_rows());
    looks_ = static_cast<int>(std::min<std::int64_t>(options.looks, most));
  }

  FusedPlan Run(const std::optional<DecodedPlan>& drawn) {
    std::vector<FusedPlan> starts = Starts(drawn);
    if (!decoder_.chooses_groups()) return Leg(starts.front(), {.until = 1, .looks = looks_});
    if (FewPlans() && !too_few_plans_) return WholeOrInClusters(starts.front());
    const bool probes = looks_ >= kLooksToProbe && !short_of_time_;
    if (probes && merged_->num_groups > kMostGroupsSearched) starts.push_back(InClusters(starts.front()));
    FusedPlan whole = starts.front();
    const FusedPlan start = probes ? Probed(std::move(starts), whole) : whole;
    FusedPlan best = Leg(start, {.until = kFirstLegUntil, .looks = FirstLooks(probes), .known = probes});
    if (!std::isfinite(best.makespan)) return best;
    FusedPlan fused = FusedFor(best, kFusedUntil);
    if (best.costed == clusters_) best = std::move(whole);
    if (fused.makespan < best.makespan) best = std::move(fused);
    return Leg(best, {.until = 1, .looks = looks_ / 2, .heat = kSecondLegHeat, .known = true});
  }

 private:
  // Whether there are so many groups, and so little time for them, that a search sees few plans.
  bool FewPlans() const {
    return merged_->num_groups > kMostGroupsSearched && (seconds_ ? short_of_time_ : looks_ < kLooksForStarts);
  }

  // Whichever a short search leads further goes on: all groups, or clusters of them, of which a search sees many more
  // plans, and annealing after this one, too. Then ops are joined anew.
  FusedPlan WholeOrInClusters(const FusedPlan& start) {
    const double begin = Gone();
    const auto until = [begin](double share) { return begin + (1 - begin) * share; };
    const int half = (looks_ + 1) / 2;
    const FusedPlan clustered =
        Leg(InClusters(start), {.until = until(kClusteredUntil), .looks = kLooksInClusters * looks_});
    FusedPlan whole = Leg(start, {.until = until(kWholeUntil), .looks = half});
    if (clustered.makespan >= whole.makespan) whole = Leg(whole, {.until = 1, .looks = half, .known = true});
    const FusedPlan& found = clustered.makespan < whole.makespan ? clustered : whole;
    FusedPlan fused = FusedFor(found, 1);
    return fused.makespan < whole.makespan ? fused : whole;
  }

  // The plan's placement, for clusters of merged groups the devices of their first ops.
  FusedPlan InClusters(const FusedPlan& plan) {
    FusedPlan clustered;
    clusters_ = std::make_shared<const CostedGraph>(
        MakeClusteredGraph(decoder_.problem().model(), *merged_, kClustersSearched));
    clustered.costed = clusters_;
    const std::vector<int> placement =
        PlacementByFirstOps(*clustered.costed, SpreadOverOps(*plan.costed, plan.assignment));
    clustered.assignment = SchedulePlaced(*clustered.costed, placement, {}).assignment;
    clustered.makespan = SecondsIfItFits(*clustered.costed, clustered.assignment);
    return clustered;
  }

  // To try each on other devices (search/role_descent.h). Where that is long the search takes more of the time that it
  // may have.
  void SeeHowLongPartsTake(const CostedGraph& costed) {
    const double for_parts = static_cast<double>(MostTriesOfParts(costed)) * SecondsAPlan(costed);
    const double wanted = clock_.Elapsed() + kTimesForParts * for_parts;
    short_of_time_ = wanted > std::max(*seconds_, options_.most_seconds);
    seconds_ = std::max(*seconds_, std::min(options_.most_seconds, wanted));
    too_few_plans_ = for_parts > kMostForParts * (*seconds_ - clock_.Elapsed());
  }

  // Of the leg after the probes, or in their place.
  int FirstLooks(bool probed) const { return probed ? looks_ / 4 : looks_ - looks_ / 2; }

  // One for each way of choosing the groups, or of placing given ones; the fastest first.
  std::vector<FusedPlan> Starts(const std::optional<DecodedPlan>& drawn) {
    const CostModel& model = decoder_.problem().model();
    std::vector<FusedPlan> starts = {ByHand(decoder_.Decode({}).costed)};
    if (decoder_.chooses_groups()) {
      merged_ = std::make_shared<const CostedGraph>(MakeCostedGraph(model, MergedFusion(model)));
      starts.push_back(ByHand(merged_));
    }
    if (seconds_) SeeHowLongPartsTake(*starts.back().costed);
    if (decoder_.chooses_groups() && !FewPlans()) {
      const FusedPlan apart = ByHand(std::make_shared<const CostedGraph>(MakeCostedGraph(model, UnfusedGroups(model))));
      starts.push_back(FusedFor(apart, kStartsUntil));
    }
    if (drawn && drawn->fits) starts.push_back({drawn->costed, drawn->assignment, drawn->makespan});
    std::stable_sort(starts.begin(), starts.end(),
                     [](const FusedPlan& a, const FusedPlan& b) { return a.makespan < b.makespan; });
    return starts;
  }

  // Of its time; 0 where that has no limit.
  double Gone() const { return seconds_ ? clock_.Elapsed() / std::max(*seconds_, 1e-9) : 0; }

  // The one that a short search leads furthest: what begins fastest seldom ends so. `whole` becomes the fastest that is
  // not over clusters.
  FusedPlan Probed(std::vector<FusedPlan> starts, FusedPlan& whole) {
    const double begin = Gone();
    const auto count = static_cast<double>(starts.size());
    FusedPlan best = starts.front();
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const double until = begin + (kProbedUntil - begin) * static_cast<double>(i + 1) / count;
      FusedPlan probed = Leg(starts[i], {.until = until, .looks = std::max(1, looks_ / kLooksPerProbe)});
      if (probed.costed != clusters_ && probed.makespan < whole.makespan) whole = probed;
      if (probed.makespan < best.makespan) best = std::move(probed);
    }
    return best;
  }

  // Infinity for a makespan where it does not fit in memory.
  FusedPlan ByHand(std::shared_ptr<const CostedGraph> costed) {
    constexpr std::int64_t kMostVisits = 500'000;
    FusedPlan plan;
    const std::vector<int> placement = PlaceByLayers(*costed);
    const Deadline one_plan;
    plan.assignment = SchedulePlaced(*costed, placement, {}).assignment;
    plan.makespan = SecondsIfItFits(*costed, plan.assignment);
    seconds_a_group_ = one_plan.Elapsed() / std::max(1, costed->num_groups);
    if (costed->Visits() <= kMostVisits) {
      PlannedAssignment ordered = BestOfOrders(*costed, plan.assignment.placement);
      if (ordered.makespan < plan.makespan && FitsInMemory(*costed, ordered.assignment)) {
        plan.assignment = std::move(ordered.assignment);
        plan.makespan = ordered.makespan;
      }
    }
    plan.costed = std::move(costed);
    return plan;
  }

  FusedPlan FusedFor(const FusedPlan& plan, double until) const {
    int tries = 0;
    return FuseForPlan(decoder_.fusion(), SpreadOverOps(*plan.costed, plan.assignment),
                       [&] { return ++tries > looks_ / kLooksPerFusing || Gone() >= until; });
  }

  struct LegOptions {
    double until = 1;  // share of the time
    int looks = 0;
    double heat = 1;
    bool known = false;  // it begins at a plan that a search has found
  };

  // To order and to judge it.
  double SecondsAPlan(const CostedGraph& costed) const { return seconds_a_group_ * std::max(1, costed.num_groups); }

  // Times the usual temperatures: a search of fewer plans than there are groups has no time to undo what harms.
  double Coldness(const CostedGraph& costed, double seconds) const {
    const double plans = seconds / std::max(SecondsAPlan(costed), 1e-9);
    return std::clamp(plans / std::max(1, costed.num_groups), kColdest, 1.0);
  }

  // `from` where it finds nothing that fits in memory.
  FusedPlan Leg(const FusedPlan& from, const LegOptions& leg) {
    if (leg.known && (leg.looks == 0 || Gone() >= leg.until)) return from;
    GoMoveProposer proposer(decoder_.problem(), *from.costed, policy_,
                            {.softmax_temperature = options_.moves_temperature, .threads = options_.threads});
    PlacementSearchOptions search = SearchWithGo(proposer, leg.looks);
    search.judge = PlacementJudge::kProxy;
    search.first_temperature_share *= leg.heat;
    search.last_temperature_share *= leg.heat;
    search.own_starts = !leg.known;
    search.starts = {
        {from.assignment.placement, PrioritiesInOrder(from.assignment.sequence), from.assignment.sequence}};
    if (seconds_) {
      search.evaluations.reset();
      search.seconds = std::max(0.0, leg.until - Gone()) * *seconds_;
      const double cold = Coldness(*from.costed, *search.seconds);
      search.first_temperature_share *= cold;
      search.last_temperature_share *= cold;
    }
    std::optional<FoundPlacement> found = SearchPlacement(*from.costed, search, random_);
    if (!found) return from;
    return {from.costed, std::move(found->assignment), found->makespan};
  }

  const GoDecoder& decoder_;
  const PreparedGoPolicy policy_;
  const GuidedSearchOptions& options_;
  Random& random_;
  const Deadline clock_;
  std::optional<double> seconds_;  // its time, if that is limited
  int looks_ = 0;
  std::shared_ptr<const CostedGraph> merged_;    // where groups are chosen
  std::shared_ptr<const CostedGraph> clusters_;  // of these, where it tries them
  double seconds_a_group_ = 0;                   // of a plan, to order and to judge it
  bool short_of_time_ = false;                   // for parts of the graph, all that it may have included
  bool too_few_plans_ = false;                   // of all groups, for a short search to tell how far one leads
};

}  // namespace

DecodedPlan SearchGuided(const GoDecoder& decoder, const GoPolicy& policy, const GuidedSearchOptions& options,
                         const std::optional<DecodedPlan>& drawn, Random& random) {
  FusedPlan found = GuidedSearch(decoder, policy, options, random).Run(drawn);
  DecodedPlan plan;
  plan.costed = std::move(found.costed);
  plan.assignment = std::move(found.assignment);
  plan.makespan = found.makespan;
  plan.fits = std::isfinite(found.makespan);
  return plan;
}

}  // namespace millrace
