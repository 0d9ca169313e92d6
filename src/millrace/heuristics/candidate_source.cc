// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/candidate_source.h"

#include <array>
#include <chrono>
#include <utility>

#include "millrace/errors/interrupt.h"
#include "millrace/heuristics/gang_choice.h"
#include "millrace/heuristics/list_schedulers.h"
#include "millrace/heuristics/placements.h"
#include "millrace/heuristics/random_schedulers.h"

namespace millrace {
namespace {

using Scheduler = PlannedAssignment (*)(const CostedGraph&);

class OneAnswer : public CandidateSource {
 public:
  OneAnswer(std::string name, Scheduler schedule) : name_(std::move(name)), schedule_(schedule) {}

  std::string name() const override { return name_; }
  bool one_answer() const override { return true; }

  void Propose(const CostedGraph& costed, const SourceBudget&, Random&,
               const std::function<void(Assignment)>& offer) const override {
    offer(schedule_(costed).assignment);
  }

 private:
  std::string name_;
  Scheduler schedule_;
};

// Calls draw(i) for i = 0, 1, ... until the budget is used up, at least once.
template <typename Draw>
void DrawWithin(const SourceBudget& budget, Draw draw) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  for (std::int64_t sample = 0; sample < budget.samples; ++sample) {
    StopIfInterrupted();
    if (sample > 0 && budget.seconds && std::chrono::duration<double>(Clock::now() - begin).count() >= *budget.seconds)
      return;
    draw(sample);
  }
}

class RandomSource : public CandidateSource {
 public:
  std::string name() const override { return "random"; }

  void Propose(const CostedGraph& costed, const SourceBudget& budget, Random& random,
               const std::function<void(Assignment)>& offer) const override {
    DrawWithin(budget, [&](std::int64_t sample) {
      offer(ScheduleAtRandom(costed, random.Fork(static_cast<std::uint64_t>(sample))));
    });
  }
};

class RandomisedListSource : public CandidateSource {
 public:
  std::string name() const override { return "randomised-list"; }

  void Propose(const CostedGraph& costed, const SourceBudget& budget, Random& random,
               const std::function<void(Assignment)>& offer) const override {
    RandomisedList list(costed);
    DrawWithin(budget, [&](std::int64_t sample) { offer(list.Sample(sample, random).assignment); });
  }
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
  Scheduler schedule;  // null: gives more than one answer, made below
};

constexpr std::array kSchedulers = {
    NamedScheduler{"sequential", ScheduleSequential},
    NamedScheduler{"random", nullptr},
    NamedScheduler{"list", WithGangChoice<ScheduleList>},
    NamedScheduler{"heft", WithGangChoice<ScheduleHeftIntoGaps>},
    NamedScheduler{"heft-append", WithGangChoice<ScheduleHeftByAppending>},
    NamedScheduler{"cpop", WithGangChoice<ScheduleCpop>},
    NamedScheduler{"peft", WithGangChoice<SchedulePeft>},
    NamedScheduler{"etf", WithGangChoice<ScheduleEtf>},
    NamedScheduler{"dls", WithGangChoice<ScheduleDls>},
    NamedScheduler{"minmin", WithGangChoice<ScheduleMinMin>},
    NamedScheduler{"maxmin", WithGangChoice<ScheduleMaxMin>},
    NamedScheduler{"randomised-list", nullptr},
    NamedScheduler{"metis", ScheduleMetis},
    NamedScheduler{"expert", ScheduleExpert},
};

}  // namespace

std::vector<std::string> HeuristicNames() {
  std::vector<std::string> names;
  names.reserve(std::size(kSchedulers));
  for (const NamedScheduler& entry : kSchedulers) names.emplace_back(entry.name);
  return names;
}

std::unique_ptr<CandidateSource> MakeHeuristic(std::string_view name) {
  if (name == "random") return std::make_unique<RandomSource>();
  if (name == "randomised-list") return std::make_unique<RandomisedListSource>();
  for (const NamedScheduler& entry : kSchedulers) {
    if (name == entry.name) return std::make_unique<OneAnswer>(entry.name, entry.schedule);
  }
  return nullptr;
}

}  // namespace millrace
