// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/placement_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "millrace/errors/interrupt.h"
#include "millrace/heuristics/list_schedulers.h"
#include "millrace/heuristics/placed_list.h"
#include "millrace/heuristics/placement_orders.h"
#include "millrace/heuristics/placements.h"
#include "millrace/heuristics/upward_rank.h"
#include "millrace/planning/course.h"
#include "millrace/planning/deadline.h"
#include "millrace/search/placement_moves.h"
#include "millrace/search/role_descent.h"
#include "millrace/simulate/contention.h"
#include "millrace/simulate/greedy.h"
#include "millrace/simulate/memory_check.h"
#include "millrace/simulate/timeline.h"

namespace millrace {
namespace {

constexpr double kShareOfStarts = 1.0 / 3;  // of the budget, at most, for looking at starts
constexpr double kRolesUntil = 0.5;         // of the budget, at most, with starts, for moves of whole parts
constexpr double kShareOfLooks = 0.2;       // of the time so far, that its proposer may have had before another look
constexpr double kOverfull = std::numeric_limits<double>::infinity();

class PlacementSearch {
 public:
  PlacementSearch(const CostedGraph& costed, const PlacementSearchOptions& options, Random& random)
      : costed_(costed),
        options_(options),
        random_(random),
        course_(Evaluations(options), options.seconds),
        scheduler_(costed),
        memory_(costed) {
    if (options.judge == PlacementJudge::kContended) contended_.emplace(costed);
    if (options.judge == PlacementJudge::kProxy) by_proxy_.emplace(costed);
    ranks_ = UpwardRanks(costed, MeanSeconds(costed), MeanTransferOf(costed.topology));
  }

  std::optional<FoundPlacement> Run() {
    Begin();
    if (best_.makespan == kOverfull) return std::nullopt;
    if (costed_.num_devices > 1 && costed_.num_groups > 0 && Progress() < 1) Anneal();
    FindOrder();
    best_.evaluations = evaluations_;
    return std::move(best_);
  }

 private:
  static std::optional<std::int64_t> Evaluations(const PlacementSearchOptions& options) {
    constexpr std::int64_t kUsual = 2000;
    if (!options.evaluations && options.seconds) return std::nullopt;
    return std::max<std::int64_t>(1, options.evaluations.value_or(kUsual));
  }

  double Progress() const { return options_.stop.stop_requested() ? 1 : course_.Done(evaluations_); }

  void Anneal() {
    const std::vector<ClusterLevel> levels = MovedClusters(costed_);
    MovingPlacement moving(costed_, levels, best_.assignment.placement);
    double now = best_.makespan;
    if (options_.own_starts) {
      now = DescendByRoles(
          costed_, now,
          [this](const std::vector<int>& placement, double limit) { return Judge(placement, priorities_, limit); },
          [this] {
            StopIfInterrupted();
            return Progress() > kRolesUntil;
          },
          moving);
    }
    for (std::int64_t tried = 0; Progress() < 1; ++tried) {
      StopIfInterrupted();
      if (TimeToAsk(tried)) Ask(tried, moving.placement());
      if (!Change(moving)) {
        ++evaluations_;  // so that a graph where nothing can move comes to an end
        continue;
      }
      const double temperature =
          best_.makespan * options_.first_temperature_share *
          std::pow(options_.last_temperature_share / options_.first_temperature_share, Progress());
      const double limit = now - temperature * std::log(1.0 - random_.Uniform());
      const double then = Judge(moving.placement(), priorities_, limit);
      if (then <= limit) {
        now = then;
      } else {
        moving.Undo();
      }
    }
  }

  // Where time is limited most of it is the search's own.
  bool TimeToAsk(std::int64_t tried) const {
    if (options_.proposer == nullptr || tried < next_look_) return false;
    return !options_.seconds || look_seconds_ <= kShareOfLooks * course_.TimeGone() * *options_.seconds;
  }

  void Ask(std::int64_t tried, const std::vector<int>& placement) {
    const Deadline look;
    proposed_ = options_.proposer->Propose(scheduler_.Schedule(placement, priorities_).assignment, random_);
    next_ = 0;
    next_look_ = tried + std::max(1, options_.tries);
    look_seconds_ += look.Elapsed();
  }

  bool Change(MovingPlacement& moving) {
    if (next_ < proposed_.size() && random_.Uniform() < options_.proposed) return moving.Move(proposed_[next_++]);
    return moving.MoveByChance(random_);
  }

  // Leaves most of the budget to the search, but looks at one start at least.
  bool NoMoreStarts() const {
    return evaluations_ > 0 && (options_.stop.stop_requested() || course_.TimeGone() >= 1 ||
                                (best_.makespan < kOverfull && course_.Done(evaluations_) > kShareOfStarts));
  }

  void Begin() {
    best_.makespan = kOverfull;
    std::vector<PlacementStart> starts;
    for (const PlacementStart& start : options_.starts) {
      if (NoMoreStarts()) return;
      Try(start);
      starts.push_back(start);
    }
    if (!options_.own_starts) return;
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
        TryInOrder(placed.planned.assignment);
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
    if (found.makespan < best_.makespan) Take(found.assignment);
  }

  // As it is, waiting included, and then as an executor runs it that has the order for its priorities.
  void TryInOrder(const Assignment& assignment) {
    std::vector<double> priorities = PrioritiesInOrder(assignment.sequence);
    const double before = best_.makespan;
    const double executed = Judge(assignment.placement, priorities);
    const double kept = Take(assignment);
    if (std::min(executed, kept) < before) priorities_ = std::move(priorities);
  }

  // Seconds as judged; remembers the best. More than `limit` where it is more, or where the executor's own timeline is:
  // under contention that says as much, but for tensors that several readers of a memory wait for.
  double Judge(const std::vector<int>& placement, const std::vector<double>& priorities, double limit = kOverfull) {
    if (options_.judge == PlacementJudge::kGreedy || costed_.topology.proxy != Proxy::kContended) limit = kOverfull;
    const PlacedSchedule& placed = scheduler_.Schedule(placement, priorities, limit);
    if (placed.timeline.makespan <= limit) return Take(placed.assignment);
    ++evaluations_;
    return placed.timeline.makespan;
  }

  double Take(const Assignment& assignment) {
    ++evaluations_;
    if (options_.judge == PlacementJudge::kGreedy) return TakeGreedily(assignment);
    const double makespan =
        by_proxy_ ? by_proxy_->Makespan(assignment) : contended_->Makespan(assignment.placement, assignment.sequence);
    if (!memory_.Fits(assignment)) return kOverfull;
    if (makespan < best_.makespan) best_ = {.assignment = assignment, .makespan = makespan};
    return makespan;
  }

  // In the order of its execution.
  double TakeGreedily(Assignment assignment) {
    const Timeline timeline = GreedyTimeline(costed_, assignment);
    std::stable_sort(assignment.sequence.begin(), assignment.sequence.end(), [&timeline](int a, int b) {
      const auto first = static_cast<std::size_t>(a), second = static_cast<std::size_t>(b);
      return std::tie(timeline.start[first], timeline.finish[first]) <
             std::tie(timeline.start[second], timeline.finish[second]);
    });
    if (!memory_.Fits(assignment)) return kOverfull;
    if (timeline.makespan < best_.makespan)
      best_ = {.assignment = std::move(assignment), .makespan = timeline.makespan};
    return timeline.makespan;
  }

  const CostedGraph& costed_;
  const PlacementSearchOptions& options_;
  Random& random_;
  Course course_;
  std::optional<ContendedSimulator> contended_;  // of these two the one that judges
  std::optional<Simulator> by_proxy_;
  PlacedScheduler scheduler_;
  MemoryCheck memory_;
  std::vector<double> ranks_;
  std::vector<double> priorities_;       // by group
  std::vector<PlacementMove> proposed_;  // when the proposer was asked last
  std::size_t next_ = 0;                 // of these
  std::int64_t next_look_ = 0;           // no move before this one asks again
  double look_seconds_ = 0;              // of all looks
  FoundPlacement best_;
  std::int64_t evaluations_ = 0;
};

}  // namespace

std::optional<FoundPlacement> SearchPlacement(const CostedGraph& costed, const PlacementSearchOptions& options,
                                              Random& random) {
  return PlacementSearch(costed, options, random).Run();
}

}  // namespace millrace
