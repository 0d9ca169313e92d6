// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/trade_plans.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include "millrace/memory/memory_saving.h"
#include "millrace/planning/deadline.h"
#include "millrace/planning/plan_value.h"
#include "millrace/search/trade_search.h"
#include "millrace/simulate/memory_check.h"
#include "millrace/simulate/timeline.h"

namespace millrace {
namespace {

// In times what the fastest plan takes: where the front is looked for beside the objective's own limit.
constexpr double kLimits[] = {1, 1.05, 1.2, 1.5, 2, 4, std::numeric_limits<double>::infinity()};

const PoolEntry& FastestEntry(const Pool& pool) {
  return *std::min_element(pool.entries.begin(), pool.entries.end(),
                           [](const PoolEntry& a, const PoolEntry& b) { return a.proxy_seconds < b.proxy_seconds; });
}

// Keeps those that none beats in both, by `seconds` and value; fastest first.
template <typename Seconds>
std::vector<Candidate> Unbeaten(std::vector<Candidate> candidates, Seconds seconds) {
  std::stable_sort(candidates.begin(), candidates.end(), [&seconds](const Candidate& a, const Candidate& b) {
    return std::pair(seconds(a), *a.value) < std::pair(seconds(b), *b.value);
  });
  std::vector<Candidate> kept;
  for (Candidate& candidate : candidates) {
    if (kept.empty() || *candidate.value < *kept.back().value) kept.push_back(std::move(candidate));
  }
  return kept;
}

class Trader {
 public:
  Trader(const Pool& pool, const TradeOptions& options)
      : pool_(pool), options_(options), fastest_(FastestEntry(pool).proxy_seconds) {}

  std::vector<Candidate> Trade(int fusion, std::optional<double> seconds,
                               std::optional<std::int64_t> iterations) const {
    const CostedGraph& costed = pool_.fusions[static_cast<std::size_t>(fusion)].costed;
    const PlanValue value = MakePlanValue(options_.objective.aim, costed);
    Simulator simulator(costed);
    Timeline timeline;
    TradeFront front;
    std::vector<std::pair<Assignment, std::string>> makers;  // of the plans that were there before the search
    const auto add = [&](const Assignment& assignment, const std::string& method) {
      simulator.Run(assignment, timeline);
      if (front.Add({assignment, timeline.makespan, value(assignment, timeline)}))
        makers.emplace_back(assignment, method);
    };
    for (const PoolEntry& entry : pool_.entries) {
      if (entry.fusion == fusion) add(entry.assignment, entry.method);
    }
    Random random = options_.random.Fork(static_cast<std::uint64_t>(fusion));
    if (options_.objective.aim == Objective::Aim::kMemory) {
      Budget budget;
      if (seconds) budget.seconds = *seconds / 4;
      MakeMemorySaving()->Propose(costed, budget, random, [&](const ProposedPlan& plan) {
        if (FitsInMemory(costed, plan.assignment)) add(plan.assignment, "memory-saving");
      });
    }
    TradeSearchOptions search;
    search.iterations = iterations;
    search.seconds = seconds;
    for (const double limit : kLimits) search.limits.push_back(limit * fastest_);
    // Again at last, from the best that the others came upon.
    search.limits.insert(search.limits.begin(), options_.objective.Limit(fastest_));
    search.limits.push_back(options_.objective.Limit(fastest_));
    SearchTrade(costed, value, search, front, random);
    std::vector<Candidate> candidates;
    for (const TradePlan& plan : front.plans()) {
      const auto maker = std::find_if(makers.begin(), makers.end(),
                                      [&plan](const auto& made) { return made.first == plan.assignment; });
      const std::string method = maker == makers.end() ? "trade-search" : maker->second;
      candidates.push_back(MakeCandidate(pool_, {fusion, method, plan.assignment, plan.makespan}));
      candidates.back().value = plan.value;
    }
    return candidates;
  }

 private:
  const Pool& pool_;
  const TradeOptions& options_;
  double fastest_;
};

}  // namespace

std::vector<Candidate> TradePlans(const Pool& pool, const TradeOptions& options,
                                  const std::function<void(int, int)>& progress) {
  if (pool.entries.empty()) return {};
  std::vector<int> fusions;
  for (int fusion = 0; fusion < static_cast<int>(pool.fusions.size()); ++fusion) {
    if (pool.fusions[static_cast<std::size_t>(fusion)].open_to_all) fusions.push_back(fusion);
  }
  const int of_fastest = FastestEntry(pool).fusion;
  if (std::find(fusions.begin(), fusions.end(), of_fastest) == fusions.end()) fusions.push_back(of_fastest);
  const Trader trader(pool, options);
  const Deadline deadline(options.seconds);
  const int total = static_cast<int>(fusions.size());
  std::vector<Candidate> all;
  for (int at = 0; at < total; ++at) {
    progress(at, total);
    std::optional<double> seconds;
    if (options.seconds) seconds = deadline.Left() / (total - at);
    std::optional<std::int64_t> iterations;
    if (options.iterations) iterations = *options.iterations / total;
    std::vector<Candidate> traded = trader.Trade(fusions[static_cast<std::size_t>(at)], seconds, iterations);
    std::move(traded.begin(), traded.end(), std::back_inserter(all));
  }
  progress(total, total);
  return Unbeaten(std::move(all), [](const Candidate& candidate) { return candidate.proxy_seconds; });
}

std::vector<Candidate> SpreadOver(const std::vector<Candidate>& front, double limit, std::size_t most) {
  if (front.size() <= most) return front;
  const auto beyond = std::partition_point(
      front.begin(), front.end(), [limit](const Candidate& candidate) { return candidate.proxy_seconds <= limit; });
  std::vector<Candidate> chosen(std::make_reverse_iterator(beyond), front.rend());
  chosen.resize(std::min(chosen.size(), most - most / 2));
  std::vector<Candidate> rest(front.begin(), beyond - static_cast<std::ptrdiff_t>(chosen.size()));
  rest.insert(rest.end(), beyond, front.end());
  const std::size_t places = std::min(rest.size(), most - chosen.size());
  for (std::size_t place = 0; place < places; ++place)
    chosen.push_back(rest[place * (rest.size() - 1) / std::max<std::size_t>(1, places - 1)]);
  return chosen;
}

std::vector<Candidate> MeasuredFront(const std::vector<Candidate>& candidates) {
  std::vector<Candidate> measured;
  for (const Candidate& candidate : candidates) {
    if (candidate.target_seconds && candidate.value) measured.push_back(candidate);
  }
  return Unbeaten(std::move(measured), [](const Candidate& candidate) { return *candidate.target_seconds; });
}

}  // namespace millrace
