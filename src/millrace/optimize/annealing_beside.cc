// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/annealing_beside.h"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "millrace/heuristics/start.h"
#include "millrace/planning/problem.h"
#include "millrace/search/anneal.h"

namespace millrace {
namespace {

// Where annealing by itself would begin, if the pool has that.
const PoolEntry& StartOf(const Pool& pool) {
  const std::vector<std::string> names = StartHeuristicNames();
  const auto rank = [&names](const PoolEntry& entry) {
    return std::pair(std::find(names.begin(), names.end(), entry.method) == names.end(), entry.proxy_seconds);
  };
  return *std::min_element(pool.entries.begin(), pool.entries.end(),
                           [&rank](const PoolEntry& a, const PoolEntry& b) { return rank(a) < rank(b); });
}

}  // namespace

AnnealingBeside::AnnealingBeside(const CostModel& model, const Pool& pool, double seconds, Random random) {
  const PoolEntry& start = StartOf(pool);
  fusion_ = start.fusion;
  std::promise<std::optional<RatedAssignment>> promise;
  found_ = promise.get_future();
  thread_ =
      std::jthread([&model, costed = pool.fusions[static_cast<std::size_t>(fusion_)].costed, from = start.assignment,
                    seconds, random, promise = std::move(promise)](const std::stop_token& stop) mutable {
        try {
          AnnealOptions annealing;
          annealing.stop = stop;
          Budget budget;
          budget.seconds = seconds;
          BestOf found =
              RunPlanner(*MakeAnnealing(annealing), PlanningProblem(model, costed).WithStart(from), budget, random, 1);
          promise.set_value(found.kept.empty() ? std::nullopt : std::optional(std::move(found.kept.front())));
        } catch (...) {
          promise.set_exception(std::current_exception());
        }
      });
}

std::optional<PoolEntry> AnnealingBeside::Stop() {
  thread_.request_stop();
  std::optional<RatedAssignment> found = found_.get();
  if (!found) return std::nullopt;
  return PoolEntry{fusion_, "anneal", std::move(found->assignment), found->makespan};
}

}  // namespace millrace
