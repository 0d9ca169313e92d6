// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/heuristics.h"

#include <algorithm>
#include <array>
#include <utility>

#include "millrace/errors/interrupt.h"
#include "millrace/heuristics/forward_backward.h"
#include "millrace/heuristics/gang_choice.h"
#include "millrace/heuristics/layer_cuts.h"
#include "millrace/heuristics/list_schedulers.h"
#include "millrace/heuristics/ordered_placements.h"
#include "millrace/heuristics/placements.h"
#include "millrace/heuristics/random_schedulers.h"
#include "millrace/heuristics/weighted_heft.h"
#include "millrace/planning/chained_planner.h"
#include "millrace/planning/deadline.h"
#include "millrace/simulate/timeline.h"

namespace millrace {
namespace {

using Scheduler = PlannedAssignment (*)(const CostedGraph&);

class OneAnswer : public Planner {
 public:
  OneAnswer(PlannerTraits traits, Scheduler schedule) : Planner(std::move(traits)), schedule_(schedule) {}

  void Propose(const PlanningProblem& problem, const Budget&, Random&, const Offer& offer) const override {
    offer(schedule_(problem.costed()).assignment);
  }

 private:
  Scheduler schedule_;
};

// Calls draw(i) for i = 0, 1, ... until the budget is used up, at least once.
template <typename Draw>
void DrawWithin(const Budget& budget, Draw draw) {
  const Deadline deadline(budget.seconds);
  for (std::int64_t sample = 0; sample < budget.samples; ++sample) {
    StopIfInterrupted();
    if (sample > 0 && deadline.Passed()) return;
    draw(sample);
  }
}

class RandomPlanner : public Planner {
 public:
  using Planner::Planner;

  void Propose(const PlanningProblem& problem, const Budget& budget, Random& random,
               const Offer& offer) const override {
    const CostedGraph& costed = problem.costed();
    DrawWithin(budget, [&](std::int64_t sample) {
      offer(ScheduleAtRandom(costed, random.Fork(static_cast<std::uint64_t>(sample))));
    });
  }
};

class RandomisedListPlanner : public Planner {
 public:
  RandomisedListPlanner(PlannerTraits traits, double doubt) : Planner(std::move(traits)), doubt_(doubt) {}

  void Propose(const PlanningProblem& problem, const Budget& budget, Random& random,
               const Offer& offer) const override {
    const CostedGraph& costed = problem.costed();
    RandomisedList list(costed, doubt_);
    DrawWithin(budget, [&](std::int64_t sample) { offer(list.Sample(sample, random).assignment); });
  }

 private:
  double doubt_;
};

// Sequential has no use for it: it looks at all groups before it chooses.
template <Scheduler kSchedule>
PlannedAssignment WithGangChoice(const CostedGraph& costed) {
  return BestGangChoice(costed, kSchedule);
}

PlannedAssignment ScheduleHeftIntoGaps(const CostedGraph& costed) {
  return ScheduleHeft(costed, PartialSchedule::Gaps::kFill);
}

PlannedAssignment ScheduleHeftByAppending(const CostedGraph& costed) {
  return ScheduleHeft(costed, PartialSchedule::Gaps::kLeave);
}

struct NamedScheduler {
  const char* name;
  const char* meaning;
  Scheduler schedule;
};

constexpr std::array kSchedulers = {
    NamedScheduler{"sequential", "one group after the other on one device", ScheduleSequential},
    NamedScheduler{"list", "list scheduling by upward rank, transfers not counted", WithGangChoice<ScheduleList>},
    NamedScheduler{"heft", "HEFT: upward rank, earliest finish, into gaps", WithGangChoice<ScheduleHeftIntoGaps>},
    NamedScheduler{"heft-append", "HEFT without filling gaps", WithGangChoice<ScheduleHeftByAppending>},
    NamedScheduler{"cpop", "CPOP: the critical path on one device", WithGangChoice<ScheduleCpop>},
    NamedScheduler{"peft", "PEFT: earliest finish with a table of optimistic costs", WithGangChoice<SchedulePeft>},
    NamedScheduler{"etf", "ETF: whatever can start first", WithGangChoice<ScheduleEtf>},
    NamedScheduler{"dls", "DLS: the highest dynamic level", WithGangChoice<ScheduleDls>},
    NamedScheduler{"minmin", "min-min: whatever can finish first", WithGangChoice<ScheduleMinMin>},
    NamedScheduler{"maxmin", "max-min: whatever finishes last where it finishes first", WithGangChoice<ScheduleMaxMin>},
    NamedScheduler{"metis", "a METIS partition in the best of all orders", ScheduleMetis},
    NamedScheduler{"expert", "human placement, layers in blocks, in the best of all orders", ScheduleExpert},
};

PlannerEntry OneAnswerEntry(const NamedScheduler& entry) {
  PlannerTraits traits{.name = entry.name, .meaning = entry.meaning, .one_answer = true};
  return {traits, [schedule = entry.schedule](const PlannerTraits& own, const PlannerSettings&) {
            return std::make_unique<OneAnswer>(own, schedule);
          }};
}

PlannerEntry RandomEntry() {
  return {{.name = "random", .meaning = "any device, any order", .takes_samples = true, .pool_share = 0.1},
          [](const PlannerTraits& own, const PlannerSettings&) { return std::make_unique<RandomPlanner>(own); }};
}

PlannerEntry RandomisedListEntry() {
  return {{.name = "randomised-list",
           .meaning = "HEFT with ranks drawn at random",
           .takes_samples = true,
           .usual_samples = 100,
           .pool_share = 0.5,
           .options = {{.name = "doubt",
                        .meaning =
                            "how much ranks and finishes are doubted, times the usual: above 1 for more varied plans",
                        .least = 0,
                        .most = 1000,
                        .usual = "1"}}},
          [](const PlannerTraits& own, const PlannerSettings& settings) {
            return std::make_unique<RandomisedListPlanner>(own, settings.One("doubt", 1));
          }};
}

PlannerRegistry Heuristics() {
  PlannerRegistry registry;
  AddHeuristics(registry);
  return registry;
}

}  // namespace

void AddHeuristics(PlannerRegistry& registry) {
  for (const NamedScheduler& entry : kSchedulers) {
    registry.Add(OneAnswerEntry(entry));
    // In the order reports list them.
    if (entry.name == std::string_view("sequential")) registry.Add(RandomEntry());
    if (entry.name == std::string_view("heft-append")) {
      registry.Add(
          {WeightedHeftTraits(), [](const PlannerTraits&, const PlannerSettings&) { return MakeWeightedHeft(); }});
      registry.Add({ForwardBackwardTraits(),
                    [](const PlannerTraits&, const PlannerSettings&) { return MakeForwardBackward(); }});
    }
    if (entry.name == std::string_view("maxmin")) registry.Add(RandomisedListEntry());
  }
  registry.Add({LayerCutsTraits(), [](const PlannerTraits&, const PlannerSettings&) { return MakeLayerCuts(); }});
  registry.Add({OrderedPlacementsTraits(),
                [](const PlannerTraits&, const PlannerSettings&) { return MakeOrderedPlacements(); }});
}

std::unique_ptr<Planner> MakeHeuristic(std::string_view name) {
  static const PlannerRegistry heuristics = Heuristics();
  return heuristics.Make(name);
}

std::unique_ptr<Planner> MakeHeftReference() {
  return MakeChainedPlanner("heft", {MakeHeuristic("heft"), MakeHeuristic("heft-append")});
}

double HeftReferenceMakespan(const CostedGraph& costed) {
  Simulator simulator(costed);
  return std::min(simulator.Makespan(ScheduleHeftIntoGaps(costed).assignment),
                  simulator.Makespan(ScheduleHeftByAppending(costed).assignment));
}

std::unique_ptr<Planner> MakeAllHeuristics() {
  std::vector<std::shared_ptr<const Planner>> planners;
  const PlannerRegistry registry = Heuristics();
  for (const PlannerEntry& entry : registry.entries()) {
    if (entry.traits.fixed()) planners.push_back(MakeHeuristic(entry.traits.name));
  }
  return MakeChainedPlanner("heuristics", std::move(planners));
}

}  // namespace millrace
