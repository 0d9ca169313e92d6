// SPDX-License-Identifier: Apache-2.0
#include "millrace/memory/run_in_memory.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "millrace/errors/interrupt.h"
#include "millrace/heuristics/heuristics.h"
#include "millrace/heuristics/start.h"
#include "millrace/memory/memory_saving.h"
#include "millrace/memory/repair.h"
#include "millrace/planning/deadline.h"
#include "millrace/simulate/memory_check.h"
#include "millrace/simulate/timeline.h"

namespace millrace {
namespace {

constexpr int kMostTries = 16;          // with lowered capacities
constexpr double kMostVisits = 3e6;     // of (group, device) pairs, over all these tries while nothing fits
constexpr double kVisitsForMore = 1e6;  // the same where something fits already
constexpr double kRepairVisits = 4e6;   // of groups, over all moves of one repair
constexpr double kMostMoves = 2000;     // of one repair
constexpr double kMovesPerGroup = 40;
constexpr double kFewestMoves = 200;  // that visits must leave, or a repair is hopeless
constexpr double kMargin = 0.97;      // lowered a little further than the overflow, or the next try would just miss
constexpr double kMostLowered = 0.5;  // in one try: an overflow says little about a plan that is very different

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

// The share of all capacity that the weights alone need; 0 where some memory has no limit.
double WeightShare(const CostedGraph& costed) {
  double capacity = 0;
  for (const double bytes : costed.topology.memory_bytes) capacity += bytes;
  double weights = 0;
  for (const double bytes : costed.weight_bytes) weights += bytes;
  return capacity > 0 ? std::min(1.0, weights / capacity) : 0.0;
}

void LowerWhereOverfull(const CostedGraph& costed, const std::vector<double>& peaks, std::vector<double>& limits) {
  for (std::size_t memory = 0; memory < limits.size(); ++memory) {
    const double capacity = costed.topology.memory_bytes[memory];
    if (peaks[memory] > capacity) limits[memory] *= std::max(kMostLowered, kMargin * capacity / peaks[memory]);
  }
}

CostedGraph WithoutLimits(const CostedGraph& costed) {
  CostedGraph free = costed;
  free.limited_memory = false;
  std::fill(free.topology.memory_bytes.begin(), free.topology.memory_bytes.end(), kUnlimited);
  return free;
}

class Tries {
 public:
  Tries(const PlanningProblem& problem, const Budget& budget, Random& random, std::size_t most)
      : problem_(problem),
        costed_(problem.costed()),
        budget_(budget),
        random_(random),
        most_(most),
        deadline_(budget.seconds) {}

  bool found() const { return !all_.kept.empty(); }
  BestOf& all() { return all_; }

  bool OutOfTime() const { return deadline_.Left() <= 0; }

  // May take this share of the time that is left, where time is limited.
  BestOf Try(const Planner& planner, const CostedGraph& shown, double share) {
    return Run(planner, problem_.WithGroups(shown), budget_, share);
  }

  // Half the iterations from this start, or from the planner's own.
  void Search(const Planner& planner, const Assignment* start, double share) {
    Budget half = budget_;
    if (half.iterations) half.iterations = *half.iterations / 2;
    Run(planner, start == nullptr ? problem_.WithoutStart() : problem_.WithStart(*start), half, share);
  }

  // A search answers at least what it could have begun with.
  void KeepIfFaster(RatedAssignment plan) {
    if (!found() || plan.makespan < all_.kept.front().makespan) Keep({std::move(plan)});
  }

  // Lowers what the planner sees: first each overfull memory by as much as the nearest offer overflowed it, then all
  // evenly; until something fits, if the planner is slow. `peaks`: of that nearest offer, if there was one.
  void TryLowered(const Planner& planner, std::vector<double> peaks, int tries, double share) {
    CostedGraph shown = costed_;
    std::vector<double>& limits = shown.topology.memory_bytes;
    const double weights = std::max(WeightShare(costed_), 0.1);
    const int targeted = (tries + 1) / 2;
    const int even = tries - targeted;
    for (int attempt = 0; attempt < tries && !OutOfTime(); ++attempt) {
      if (attempt < targeted) {
        if (peaks.empty()) continue;
        LowerWhereOverfull(costed_, peaks, limits);
      } else {
        const double lowered = std::pow(weights, static_cast<double>(attempt - targeted + 1) / even);
        for (std::size_t memory = 0; memory < limits.size(); ++memory)
          limits[memory] = costed_.topology.memory_bytes[memory] * lowered;
      }
      peaks = Try(planner, shown, share / (tries - attempt)).nearest_peaks;
      if (found() && !planner.traits().one_answer) return;
    }
  }

  void Repair(const BestOf& near) {
    const double moves = kRepairVisits / std::max(1, costed_.num_groups);
    if (near.nearest_peaks.empty() || moves < kFewestMoves) return;
    const double worth = std::min({moves, kMostMoves, kMovesPerGroup * costed_.num_groups});
    Random random = random_.Fork(0);
    const auto stop = [this] {
      StopIfInterrupted();
      return OutOfTime();
    };
    std::optional<Assignment> repaired =
        MoveUntilItFits(costed_, near.nearest, static_cast<std::int64_t>(worth), stop, random);
    if (!repaired) return;
    const double makespan = MakeTimeline(costed_, *repaired).makespan;
    all_.kept.push_back({*std::move(repaired), makespan});
  }

 private:
  BestOf Run(const Planner& planner, const PlanningProblem& shown, Budget budget, double share) {
    if (budget.seconds) budget.seconds = deadline_.Left() * share;
    BestOf best = RunPlannerShown(planner, shown, problem_, budget, random_, most_);
    all_.offered += best.offered;
    all_.overfull += best.overfull;
    Keep(best.kept);
    return best;
  }

  void Keep(const std::vector<RatedAssignment>& plans) {
    for (const RatedAssignment& rated : plans) {
      const auto same = [&rated](const RatedAssignment& other) { return other.assignment == rated.assignment; };
      if (std::none_of(all_.kept.begin(), all_.kept.end(), same)) all_.kept.push_back(rated);
    }
    std::stable_sort(all_.kept.begin(), all_.kept.end(),
                     [](const RatedAssignment& a, const RatedAssignment& b) { return a.makespan < b.makespan; });
    if (all_.kept.size() > most_) all_.kept.resize(most_);
  }

  const PlanningProblem& problem_;
  const CostedGraph& costed_;
  const Budget& budget_;
  Random& random_;
  std::size_t most_;
  Deadline deadline_;
  BestOf all_;
};

// How often a planner that makes so many offers is tried again: less often on large graphs.
int MostTries(const CostedGraph& costed, double offers, double most_visits, double least) {
  const double visits = std::max(1.0, static_cast<double>(costed.num_groups) * costed.num_devices * offers);
  return static_cast<int>(std::clamp(most_visits / visits, least, static_cast<double>(kMostTries)));
}

// What a list scheduler makes where nobody looks at memory, if that fits.
std::optional<RatedAssignment> CarelessPlan(const CostedGraph& costed, const CostedGraph& free, Random random) {
  BestOf best = RunPlannerShown(*MakeHeuristic("heft"), free, costed, {}, random, 1);
  if (best.kept.empty()) return std::nullopt;
  return std::move(best.kept.front());
}

// Where a search begins: the fastest plan of list schedulers that fits. Nothing where the first finds none.
std::optional<RatedAssignment> StartInMemory(const PlanningProblem& problem, std::optional<double> seconds,
                                             const Random& random) {
  const Deadline deadline(seconds);
  std::optional<RatedAssignment> start;
  for (const std::string& name : StartHeuristicNames()) {
    Random stream = random;
    Budget budget;
    if (seconds) budget.seconds = deadline.Left();
    std::optional<BestOf> best = RunPlannerInMemory(*MakeHeuristic(name), problem, budget, stream, 1);
    if (best && (!start || best->kept.front().makespan < start->makespan)) start = std::move(best->kept.front());
    if (!start || deadline.Left() <= 0) break;
  }
  return start;
}

// Two searches under real capacities, one from there and one from where the planner begins itself: the first is the
// faster plan, but what the planner sees as its start leads elsewhere. Nothing where no start fits.
std::optional<BestOf> SearchInMemory(const Planner& planner, const PlanningProblem& problem, const Budget& budget,
                                     Random& random, std::size_t most) {
  constexpr double kStartShare = 0.1;
  std::optional<RatedAssignment> start;
  Tries tries(problem, budget, random, most);
  if (problem.start() == nullptr) {
    start =
        StartInMemory(problem, budget.seconds ? std::optional(kStartShare * *budget.seconds) : std::nullopt, random);
  } else if (FitsInMemory(problem.costed(), *problem.start())) {
    start = RatedAssignment{*problem.start(), MakeTimeline(problem.costed(), *problem.start()).makespan};
  }
  if (!start) return std::nullopt;
  tries.Search(planner, &start->assignment, 0.5);
  tries.Search(planner, nullptr, 1.0);
  if (problem.start() == nullptr) tries.KeepIfFaster(std::move(*start));
  if (!tries.found()) return std::nullopt;
  return std::move(tries.all());
}

}  // namespace

std::optional<BestOf> RunPlannerInMemory(const Planner& planner, const PlanningProblem& problem, const Budget& budget,
                                         Random& random, std::size_t most) {
  if (problem.fusion_open() || !problem.costed().limited_memory) {
    BestOf best = RunPlanner(planner, problem, budget, random, most);
    if (best.kept.empty()) return std::nullopt;
    return best;
  }
  const CostedGraph& costed = problem.costed();
  const CostedGraph unlimited = WithoutLimits(costed);
  std::optional<RatedAssignment> careless;
  if (planner.traits().takes_iterations && most > 0) {
    careless = CarelessPlan(costed, unlimited, random);
    if (!careless) {
      if (std::optional<BestOf> best = SearchInMemory(planner, problem, budget, random, most)) return best;
    }
  }
  Tries tries(problem, budget, random, most);
  const BestOf free = tries.Try(planner, unlimited, 0.4);
  if (free.offered == 0 || most == 0) return std::nullopt;
  const bool settled = tries.found() && free.overfull == 0 && !budget.seconds;
  if (!settled && !tries.OutOfTime()) {
    const BestOf careful = tries.Try(planner, costed, tries.found() ? 1.0 : 0.5);
    // Where time is limited, that decides how many samples are drawn.
    const bool samples_count = !planner.traits().one_answer && !budget.seconds;
    const double offers = samples_count ? static_cast<double>(std::max<std::int64_t>(1, budget.samples)) : 1.0;
    int lowered = 0;
    if (!tries.found()) {
      lowered = MostTries(costed, offers, kMostVisits, 2);
    } else if (planner.traits().one_answer) {
      lowered = MostTries(costed, offers, kVisitsForMore, 0);
    }
    tries.TryLowered(planner, careful.nearest_peaks, lowered, 0.7);
    if (!tries.found()) {
      tries.all().memory_saving = true;
      tries.Repair(careful);
    }
    if (!tries.found() && !tries.OutOfTime()) {
      const std::unique_ptr<Planner> memory_saving = MakeMemorySaving();
      const BestOf sparing = tries.Try(*memory_saving, costed, 0.5);
      if (!tries.found())
        tries.TryLowered(*memory_saving, sparing.nearest_peaks, MostTries(costed, kMemorySavingOffers, kMostVisits, 0),
                         0.5);
      if (!tries.found()) tries.Repair(sparing);
    }
  }
  if (careless && problem.start() == nullptr) tries.KeepIfFaster(*std::move(careless));
  if (!tries.found()) return std::nullopt;
  return std::move(tries.all());
}

}  // namespace millrace
