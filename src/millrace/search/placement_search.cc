// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/placement_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "millrace/cost/colocation_members.h"
#include "millrace/errors/interrupt.h"
#include "millrace/heuristics/cluster_levels.h"
#include "millrace/heuristics/list_schedulers.h"
#include "millrace/heuristics/placed_list.h"
#include "millrace/heuristics/placement_orders.h"
#include "millrace/heuristics/placements.h"
#include "millrace/heuristics/upward_rank.h"
#include "millrace/planning/course.h"
#include "millrace/simulate/contention.h"
#include "millrace/simulate/greedy.h"
#include "millrace/simulate/memory_check.h"

namespace millrace {
namespace {

constexpr double kShareOfStarts = 1.0 / 3;  // of the budget, at most, for looking at starts
constexpr int kFewestClusters = 8;          // of the coarsest level that moves
constexpr double kClusterMoves = 0.6;       // share of the moves
constexpr double kOverfull = std::numeric_limits<double>::infinity();

class PlacementSearch {
 public:
  PlacementSearch(const CostedGraph& costed, const PlacementSearchOptions& options, Random& random)
      : costed_(costed),
        options_(options),
        random_(random),
        course_(std::max<std::int64_t>(1, options.evaluations), options.seconds),
        simulator_(costed),
        memory_(costed) {
    ranks_ = UpwardRanks(costed, MeanSeconds(costed), MeanTransferOf(costed.topology));
    members_ = ColocationMembers(costed);
  }

  std::optional<FoundPlacement> Run() {
    Begin();
    if (best_.makespan == kOverfull) return std::nullopt;
    placement_ = best_.assignment.placement;
    double now = best_.makespan;
    if (Progress() < 1) levels_ = MakeClusterLevels(costed_, kFewestClusters);
    while (costed_.num_devices > 1 && costed_.num_groups > 0 && Progress() < 1) {
      StopIfInterrupted();
      Move();
      if (changed_.empty()) {
        ++evaluations_;  // so that a graph where nothing can move comes to an end
        continue;
      }
      const double then = Judge(placement_, priorities_);
      const double temperature =
          best_.makespan * options_.first_temperature_share *
          std::pow(options_.last_temperature_share / options_.first_temperature_share, Progress());
      if (then <= now || random_.Uniform() < std::exp((now - then) / temperature)) {
        now = then;
      } else {
        Undo();
      }
    }
    FindOrder();
    best_.evaluations = evaluations_;
    return std::move(best_);
  }

 private:
  double Progress() const { return course_.Done(evaluations_); }

  // Leaves most of the budget to the search, but looks at one start at least.
  bool NoMoreStarts() const {
    return evaluations_ > 0 &&
           (course_.TimeGone() >= 1 || (best_.makespan < kOverfull && course_.Done(evaluations_) > kShareOfStarts));
  }

  void Begin() {
    best_.makespan = kOverfull;
    std::vector<PlacementStart> starts;
    for (const PlacementStart& start : options_.starts) {
      if (NoMoreStarts()) return;
      Try(start);
      starts.push_back(start);
    }
    // Of a large graph some take longer than there is time.
    constexpr std::array<std::vector<int> (*)(const CostedGraph&), 5> kPlaces = {
        [](const CostedGraph& costed) { return ScheduleSequential(costed).assignment.placement; }, PlaceByLayers,
        PlaceByPartition,
        [](const CostedGraph& costed) {
          return ScheduleHeft(costed, PartialSchedule::Gaps::kFill).assignment.placement;
        },
        PlaceUntilFull};
    for (const auto place : kPlaces) {
      if (NoMoreStarts()) return;
      if (options_.keep_order && place == kPlaces.back()) break;
      starts.push_back({place(costed_), {}});
      Try(starts.back());
    }
    if (options_.keep_order || options_.judge == PlacementJudge::kGreedy) return;
    for (const PlacementStart& start : starts) {
      if (NoMoreStarts()) return;
      for (OrderedPlacement& placed : PlacedInFixedOrders(costed_, start.placement))
        TryInOrder(std::move(placed.planned.assignment));
    }
  }

  void Try(const PlacementStart& start) {
    const auto groups = static_cast<std::size_t>(costed_.num_groups);
    const std::vector<double> readiness(groups, 0.0);
    if (start.sequence.size() == groups) TryInOrder({start.placement, start.sequence});
    for (const std::vector<double>* priorities : {&start.priorities, &std::as_const(ranks_), &readiness}) {
      if (priorities->size() != groups) continue;
      const bool ordered = start.priorities.size() == groups;
      if (options_.keep_order && priorities != (ordered ? &start.priorities : &readiness)) continue;
      const double before = best_.makespan;
      if (Judge(start.placement, *priorities) < before) priorities_ = *priorities;
    }
  }

  // The order that suits the best placement. A search that went by it would find little else, so it comes last.
  void FindOrder() {
    if (options_.keep_order || options_.judge == PlacementJudge::kGreedy) return;
    PlannedAssignment found = OrderThereAndBack(costed_, {best_.assignment, best_.makespan});
    if (found.makespan < best_.makespan) Take(std::move(found.assignment));
  }

  // As it is, waiting included, and then as an executor runs it that has the order for its priorities.
  void TryInOrder(Assignment assignment) {
    std::vector<double> priorities = PrioritiesInOrder(assignment.sequence);
    const double before = best_.makespan;
    const double executed = Judge(assignment.placement, priorities);
    const double kept = Take(std::move(assignment));
    if (std::min(executed, kept) < before) priorities_ = std::move(priorities);
  }

  // Seconds as judged; remembers the best.
  double Judge(const std::vector<int>& placement, const std::vector<double>& priorities) {
    return Take(SchedulePlaced(costed_, placement, priorities).assignment);
  }

  double Take(Assignment assignment) {
    ++evaluations_;
    const double makespan =
        options_.judge == PlacementJudge::kGreedy ? GreedySeconds(assignment) : ContendedSeconds(assignment);
    if (makespan < best_.makespan) best_ = {.assignment = std::move(assignment), .makespan = makespan};
    return makespan;
  }

  double ContendedSeconds(const Assignment& assignment) {
    return memory_.Fits(assignment) ? simulator_.Makespan(assignment.placement, assignment.sequence) : kOverfull;
  }

  // Leaves the assignment in the order of its execution.
  double GreedySeconds(Assignment& assignment) {
    const Timeline timeline = GreedyTimeline(costed_, assignment);
    std::stable_sort(assignment.sequence.begin(), assignment.sequence.end(), [&timeline](int a, int b) {
      const auto first = static_cast<std::size_t>(a), second = static_cast<std::size_t>(b);
      return std::tie(timeline.start[first], timeline.finish[first]) <
             std::tie(timeline.start[second], timeline.finish[second]);
    });
    return memory_.Fits(assignment) ? timeline.makespan : kOverfull;
  }

  void Place(int group, int device) {
    const int from = placement_[static_cast<std::size_t>(group)];
    if (from == device || !std::isfinite(costed_.Seconds(group, device))) return;
    const std::int32_t colocation = costed_.colocation[static_cast<std::size_t>(group)];
    const auto set = [&](int member) {
      changed_.emplace_back(member, placement_[static_cast<std::size_t>(member)]);
      placement_[static_cast<std::size_t>(member)] = device;
    };
    if (colocation < 0) {
      set(group);
    } else {
      for (const int member : members_[static_cast<std::size_t>(colocation)]) set(member);
    }
  }

  void Move() {
    changed_.clear();
    if (random_.Uniform() < kClusterMoves) {
      MoveCluster();
    } else {
      MoveNeighbours();
    }
  }

  // Any device but the one it is.
  int Elsewhere(int device) {
    const auto devices = static_cast<std::uint64_t>(costed_.num_devices);
    return static_cast<int>((static_cast<std::uint64_t>(device) + 1 + random_.Below(devices - 1)) % devices);
  }

  // A cluster of any level: all of it, or what of it is on one device.
  void MoveCluster() {
    const ClusterLevel& level = levels_[random_.Below(levels_.size())];
    const auto seed = static_cast<std::size_t>(random_.Below(static_cast<std::uint64_t>(costed_.num_groups)));
    const int from = placement_[seed];
    const int to = Elsewhere(from);
    const bool all = random_.Uniform() < 0.5;
    for (const std::int32_t group : level.Members(level.cluster_of[seed])) {
      if (all || placement_[static_cast<std::size_t>(group)] == from) Place(group, to);
    }
  }

  // Groups that are near each other in topological order, often of one layer; or two devices are exchanged among them.
  void MoveNeighbours() {
    const auto groups = static_cast<std::uint64_t>(costed_.num_groups);
    const auto middle = static_cast<std::int64_t>(random_.Below(groups));
    const double longest = std::max(1.0, static_cast<double>(groups) / 4);
    const auto half = static_cast<std::int64_t>(std::exp(random_.Uniform() * std::log(longest)) / 2);
    const int seed = costed_.topological_order[static_cast<std::size_t>(middle)];
    const int from = placement_[static_cast<std::size_t>(seed)];
    const int to = Elsewhere(from);
    const std::int32_t layer = costed_.layer[static_cast<std::size_t>(seed)];
    const bool one_layer = random_.Uniform() < 0.5, exchange = random_.Uniform() < 0.2;
    const auto last = std::min<std::int64_t>(middle + half, static_cast<std::int64_t>(groups) - 1);
    for (std::int64_t at = std::max<std::int64_t>(0, middle - half); at <= last; ++at) {
      const int group = costed_.topological_order[static_cast<std::size_t>(at)];
      if (one_layer && costed_.layer[static_cast<std::size_t>(group)] != layer) continue;
      const int here = placement_[static_cast<std::size_t>(group)];
      if (here == from) {
        Place(group, to);
      } else if (exchange && here == to) {
        Place(group, from);
      }
    }
  }

  void Undo() {
    for (auto change = changed_.rbegin(); change != changed_.rend(); ++change)
      placement_[static_cast<std::size_t>(change->first)] = change->second;
  }

  const CostedGraph& costed_;
  const PlacementSearchOptions& options_;
  Random& random_;
  Course course_;
  ContendedSimulator simulator_;
  MemoryCheck memory_;
  std::vector<double> ranks_;
  std::vector<std::vector<int>> members_;  // by colocation
  std::vector<ClusterLevel> levels_;
  std::vector<int> placement_;
  std::vector<double> priorities_;            // by group
  std::vector<std::pair<int, int>> changed_;  // group, where it was
  FoundPlacement best_;
  std::int64_t evaluations_ = 0;
};

}  // namespace

std::optional<FoundPlacement> SearchPlacement(const CostedGraph& costed, const PlacementSearchOptions& options,
                                              Random& random) {
  return PlacementSearch(costed, options, random).Run();
}

}  // namespace millrace
