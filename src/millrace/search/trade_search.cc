// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/trade_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "millrace/errors/interrupt.h"
#include "millrace/planning/course.h"
#include "millrace/search/contended_live_plan.h"
#include "millrace/search/live_plan.h"
#include "millrace/search/moves.h"
#include "millrace/simulate/peak_memory.h"

namespace millrace {
namespace {

constexpr double kRounding = 1 + 1e-12;

// Of the value at the start: the temperature falls from the first to the last.
constexpr double kFirstTemperature = 0.02;
constexpr double kLastTemperature = 0.0005;

// Rounds of one limit; each begins at the best plan so far.
constexpr int kRounds = 4;

// Where something else than the makespan is to fall, groups that it hangs on are not the ones to look at.
MoveMix TradeMoves() {
  MoveMix moves;
  moves.critical = 0.1;
  return moves;
}

template <typename Live>
class TradeSearching {
 public:
  TradeSearching(const CostedGraph& costed, const PlanValue& value, TradeFront& front, Random& random)
      : costed_(costed), value_(value), front_(front), random_(random), plan_(costed), simulator_(costed) {}

  void Run(double limit, std::optional<std::int64_t> iterations, std::optional<double> seconds) {
    const Course course(iterations, seconds);
    for (int round = 0; round < kRounds; ++round) {
      const TradePlan* const start = front_.Within(limit);
      if (start == nullptr) return;
      Round(*start, limit, course, iterations, round);
    }
  }

 private:
  void Round(const TradePlan& start, double limit, const Course& course, std::optional<std::int64_t> iterations,
             int round) {
    constexpr std::int64_t kStepsBetweenLooks = 32;
    const double most_value = start.value;
    double value = start.value;
    plan_.Start(start.assignment);
    Moves<Live> moves(plan_, TradeMoves());
    const std::int64_t most = iterations.value_or(std::numeric_limits<std::int64_t>::max());
    double temperature = 0;
    for (; step_ < most; ++step_) {
      if (step_ % kStepsBetweenLooks == 0) {
        StopIfInterrupted();
        const double done = kRounds * course.Done(step_) - round;
        if (done >= 1) break;
        temperature =
            most_value * kFirstTemperature * std::pow(kLastTemperature / kFirstTemperature, std::clamp(done, 0.0, 1.0));
        moves.Refresh();
      }
      moves.Draw(random_);
      if (!plan_.changed()) continue;
      if (plan_.Price(limit * kRounding) > limit * kRounding) {
        plan_.TakeBack();
        continue;
      }
      simulator_.Run(plan_.assignment(), timeline_);
      const double changed = value_(plan_.assignment(), timeline_);
      const double dearest = value - temperature * std::log(1.0 - random_.Uniform());
      if (timeline_.makespan > limit * kRounding || changed > dearest * kRounding || !FitsNow()) {
        plan_.TakeBack();
        continue;
      }
      plan_.Keep();
      value = changed;
      if (Improves(timeline_.makespan, changed)) front_.Add({plan_.assignment(), timeline_.makespan, changed});
    }
  }

  // Spares a copy of most plans.
  bool Improves(double makespan, double value) const {
    const TradePlan* const known = front_.Within(makespan);
    return known == nullptr || value < known->value;
  }

  bool FitsNow() const {
    return !costed_.limited_memory || Fits(costed_, PeakMemory(costed_, plan_.assignment(), timeline_));
  }

  const CostedGraph& costed_;
  const PlanValue& value_;
  TradeFront& front_;
  Random& random_;
  Live plan_;
  Simulator simulator_;
  Timeline timeline_;
  std::int64_t step_ = 0;
};

template <typename Live>
void SearchAll(const CostedGraph& costed, const PlanValue& value, const TradeSearchOptions& options, TradeFront& front,
               Random& random) {
  std::optional<std::int64_t> iterations = options.iterations;
  if (!iterations && !options.seconds) iterations = options.visits / costed.Visits();
  const auto limits = static_cast<std::int64_t>(options.limits.size());
  for (std::int64_t i = 0; i < limits; ++i) {
    Random stream = random.Fork(static_cast<std::uint64_t>(i));
    std::optional<std::int64_t> share;
    if (iterations) share = *iterations / limits + (i < *iterations % limits ? 1 : 0);
    std::optional<double> seconds;
    if (options.seconds) seconds = *options.seconds / static_cast<double>(limits);
    TradeSearching<Live>(costed, value, front, stream).Run(options.limits[static_cast<std::size_t>(i)], share, seconds);
  }
}

}  // namespace

bool TradeFront::Add(TradePlan plan) {
  const auto at = std::upper_bound(plans_.begin(), plans_.end(), plan.makespan,
                                   [](double makespan, const TradePlan& other) { return makespan < other.makespan; });
  if (at != plans_.begin() && std::prev(at)->value <= plan.value) return false;
  const auto place = plans_.insert(at, std::move(plan));
  const double makespan = place->makespan;
  const double value = place->value;
  std::erase_if(plans_, [&](const TradePlan& other) {
    return (other.makespan > makespan && other.value >= value) || (other.makespan == makespan && other.value > value);
  });
  return true;
}

const TradePlan* TradeFront::Within(double limit) const {
  const TradePlan* best = nullptr;
  for (const TradePlan& plan : plans_) {
    if (plan.makespan <= limit * kRounding) best = &plan;
  }
  return best;
}

void SearchTrade(const CostedGraph& costed, const PlanValue& value, const TradeSearchOptions& options,
                 TradeFront& front, Random& random) {
  if (costed.num_groups == 0 || options.limits.empty()) return;
  if (costed.topology.proxy == Proxy::kContended) {
    SearchAll<ContendedLivePlan>(costed, value, options, front, random);
  } else {
    SearchAll<LivePlan>(costed, value, options, front, random);
  }
}

}  // namespace millrace
