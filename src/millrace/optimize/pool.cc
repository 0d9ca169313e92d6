// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/pool.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "millrace/heuristics/start.h"
#include "millrace/memory/run_in_memory.h"
#include "millrace/planning/deadline.h"
#include "millrace/search/local_search.h"

namespace millrace {
namespace {

// Each plan under groups of its planner's choice comes with a contracted graph of its own.
constexpr std::int64_t kMostOwnOpsKept = 400'000;
constexpr std::int64_t kFewestOwnKept = 2;
constexpr std::int64_t kMostOwnKept = 16;

// A planner that took this many times as long as expected was held up by something else.
constexpr double kMostSlowness = 20;

// On dense graphs some take less than it, but others do not.
constexpr double kLeastSlowness = 0.2;

// Of a pool's time, what planners that draw nothing may take together.
constexpr double kFixedShare = 0.4;

// A way of fusing whose fastest plan is so many times as long as that of another gets this share of a search's time.
constexpr double kBehind = 1.02;
constexpr double kShareOfBehind = 0.2;

// Of what is left, what the first plan of another planner may be expected to take.
constexpr double kMostOfTheRest = 0.6;

// A method's own options alone: a pool's settings are for all of its methods.
PlannerSettings SettingsFor(const PlannerTraits& traits, const PlannerSettings& all) {
  PlannerSettings own;
  for (const PlannerOption& option : traits.options) {
    const auto found = all.values().find(option.name);
    if (found != all.values().end()) own.Set(option.name, found->second);
  }
  return own;
}

// Those whose best plan searches begin at come first: of equally fast plans the first one counts. Where links are
// shared, placements that were made as a whole are the best of them, and time may end before the others.
std::vector<std::string> InStartOrder(const std::vector<std::string>& names, Proxy proxy) {
  std::vector<std::string> starts = StartHeuristicNames();
  if (proxy == Proxy::kContended) {
    const auto placements = std::find(starts.begin(), starts.end(), "placements");
    std::rotate(starts.begin() + 1, placements, placements + 1);
  }
  std::vector<std::string> ordered;
  for (const std::string& name : starts) {
    if (std::find(names.begin(), names.end(), name) != names.end()) ordered.push_back(name);
  }
  for (const std::string& name : names) {
    if (std::find(ordered.begin(), ordered.end(), name) == ordered.end()) ordered.push_back(name);
  }
  return ordered;
}

class PoolMaker {
 public:
  PoolMaker(const CostModel& model, const PlannerRegistry& planners, const PoolOptions& options, const PoolWatch& watch)
      : model_(model), options_(options), watch_(watch), deadline_(options.seconds) {
    for (const std::string& name :
         InStartOrder(options.methods.empty() ? planners.PoolNames() : options.methods, model.topology().proxy)) {
      const PlannerTraits& traits = planners.Traits(name);
      planners_.push_back(planners.Make(name, SettingsFor(traits, options.settings)));
    }
    budget_.samples = options.samples;
    budget_.iterations = options.iterations;
  }

  Pool Make(const std::vector<FusionOption>& fusions) {
    for (const FusionOption& fusion : fusions) {
      if (!pool_.fusions.empty() && !AnotherFusionFits()) break;
      const Deadline clock;
      pool_.fusions.push_back({fusion.name, MakeCostedGraph(model_, fusion.groups)});
      longest_costing_ = std::max(longest_costing_, clock.Elapsed());
    }
    ListTasks();
    for (std::size_t t = 0; t < tasks_.size() && !enough_; ++t) {
      const Task& task = tasks_[t];
      const std::optional<double> seconds = SecondsFor(t);
      if (t > 0 && seconds && *seconds < 0) {
        NoteTooSlow(task.planner->name());
        continue;
      }
      watch_.progress(task.planner->name(), static_cast<int>(t), static_cast<int>(tasks_.size()));
      if (seconds) budget_.seconds = std::max(0.0, *seconds);
      Ask(task);
    }
    watch_.progress("", static_cast<int>(tasks_.size()), static_cast<int>(tasks_.size()));
    return std::move(pool_);
  }

 private:
  // One planner for one way of fusing; fusion -1: for its own choice.
  struct Task {
    const Planner* planner;
    int fusion;

    bool fixed() const { return planner->traits().fixed(); }
  };

  // Half of the time, at most, goes into pricing ways of fusing.
  bool AnotherFusionFits() const { return !options_.seconds || 2 * longest_costing_ < deadline_.Left() / 2; }

  const PoolFusion& FusionOf(const Task& task) const {
    return pool_.fusions[static_cast<std::size_t>(std::max(0, task.fusion))];
  }

  void ListTasks() {
    const bool timed = !model_.graph().group_seconds().empty() && options_.methods.empty();
    for (const auto& planner : planners_) {
      if (timed && planner->traits().any_groups) continue;
      if (planner->traits().chooses_fusion) {
        tasks_.push_back({planner.get(), -1});
        continue;
      }
      for (int fusion = 0; fusion < static_cast<int>(pool_.fusions.size()); ++fusion)
        tasks_.push_back({planner.get(), fusion});
    }
    std::stable_sort(tasks_.begin(), tasks_.end(), [](const Task& a, const Task& b) {
      if (a.fixed() != b.fixed()) return a.fixed();
      return !a.fixed() && a.planner->traits().pool_share > b.planner->traits().pool_share;
    });
    const auto too_large = [this](const Task& task) {
      return FusionOf(task).costed.Visits() > task.planner->traits().most_pool_visits;
    };
    if (!std::all_of(tasks_.begin(), tasks_.end(), too_large)) std::erase_if(tasks_, too_large);
  }

  double ExpectedSeconds(const Task& task) const {
    const CostedGraph& costed = FusionOf(task).costed;
    const double cells = static_cast<double>(costed.num_groups) * costed.num_devices;
    return task.planner->traits().seconds_per_visit * (cells + static_cast<double>(costed.predecessors.size()));
  }

  // How many times as long as expected planners take here.
  double Slowness() const { return expected_ > 0 ? std::clamp(taken_ / expected_, kLeastSlowness, kMostSlowness) : 1; }

  // What the task may take; nothing where time is not limited, less than 0 where it is not to begin.
  std::optional<double> SecondsFor(std::size_t t) const {
    if (!options_.seconds) return std::nullopt;
    const Task& task = tasks_[t];
    const double left = deadline_.Left();
    const double expected = Slowness() * ExpectedSeconds(task);
    if (task.fixed()) {
      // Those that draw nothing leave time for the others, once there is a plan.
      const double open = left - (pool_.entries.empty() ? 0 : (1 - kFixedShare) * *options_.seconds);
      return expected > open ? -1 : std::max(expected, open / 4);
    }
    double shares = 0;
    for (std::size_t other = t; other < tasks_.size(); ++other)
      shares += tasks_[other].fixed() ? 0 : ShareOf(tasks_[other]);
    if (expected > kMostOfTheRest * left) return -1;
    return std::max(expected, left * ShareOf(task) / shares);
  }

  // Where time is limited, most of it goes to the ways of fusing that lead.
  double ShareOf(const Task& task) const {
    const double share = task.planner->traits().pool_share;
    return task.fusion < 0 ? share : share * pool_.ShareOf(task.fusion);
  }

  void NoteTooSlow(const std::string& name) {
    if (std::find(pool_.too_slow.begin(), pool_.too_slow.end(), name) == pool_.too_slow.end())
      pool_.too_slow.push_back(name);
  }

  void Ask(const Task& task) {
    const std::size_t before = pool_.entries.size();
    const Deadline clock;
    if (task.fusion < 0) {
      AskForOwnGroups(*task.planner);
    } else {
      AskForGivenGroups(*task.planner, task.fusion);
    }
    // Others that draw nothing go on after their first plan as long as they may, which says nothing of how fast they
    // are.
    if (task.planner->traits().one_answer) {
      taken_ += clock.Elapsed();
      // Where memory is limited, it is asked twice.
      expected_ += (pool_.fusions.front().costed.limited_memory ? 2 : 1) * ExpectedSeconds(task);
    }
    bool faster = false;
    for (std::size_t entry = before; entry < pool_.entries.size(); ++entry) {
      faster = faster || pool_.entries[entry].proxy_seconds < fastest_;
      fastest_ = std::min(fastest_, pool_.entries[entry].proxy_seconds);
    }
    enough_ = faster && watch_.enough && watch_.enough(pool_);
  }

  std::optional<BestOf> Run(const Planner& planner, const PlanningProblem& problem, std::size_t keep) {
    Budget budget = budget_;
    budget.samples = planner.SamplesFor(problem, budget.samples);
    Random stream = options_.random;
    std::optional<BestOf> best = RunPlannerInMemory(planner, problem, budget, stream, keep);
    if (best) {
      pool_.proposed += best->offered;
      pool_.infeasible += best->overfull;
    }
    return best;
  }

  void AskForGivenGroups(const Planner& planner, int fusion) {
    const CostedGraph& costed = pool_.fusions[static_cast<std::size_t>(fusion)].costed;
    PlanningProblem problem(model_, costed);
    const std::optional<Assignment> start = planner.traits().fixed() ? std::nullopt : StartOf(fusion);
    if (start) problem = problem.WithStart(*start);
    std::optional<BestOf> best = Run(planner, problem, options_.keep_per_planner);
    if (!best) return;
    for (RatedAssignment& rated : best->kept)
      pool_.entries.push_back({fusion, planner.name(), std::move(rated.assignment), rated.makespan});
  }

  // Where a search would begin if it looked itself, known from the heuristics that were asked.
  std::optional<Assignment> StartOf(int fusion) const {
    if (!options_.share_starts) return std::nullopt;
    const std::vector<std::string> names = StartHeuristicNames();
    const PoolEntry* best = nullptr;
    for (const PoolEntry& entry : pool_.entries) {
      if (entry.fusion != fusion || std::find(names.begin(), names.end(), entry.method) == names.end()) continue;
      if (best == nullptr || entry.proxy_seconds < best->proxy_seconds) best = &entry;
    }
    return best == nullptr ? std::nullopt : std::optional(best->assignment);
  }

  void AskForOwnGroups(const Planner& planner) {
    const std::int64_t ops = std::max<std::int64_t>(1, model_.graph().num_ops());
    const auto most = std::clamp(kMostOwnOpsKept / ops, kFewestOwnKept, kMostOwnKept);
    const Deadline both(budget_.seconds);
    if (budget_.seconds) budget_.seconds = *budget_.seconds / 2;
    std::optional<BestOf> best =
        Run(planner, PlanningProblem(model_), std::min(options_.keep_per_planner, static_cast<std::size_t>(most)));
    if (!best) return;
    const std::size_t first = pool_.entries.size();
    for (RatedAssignment& rated : best->kept)
      pool_.entries.push_back({pool_.NumberOf({planner.name(), *rated.costed, false}), planner.name(),
                               std::move(rated.assignment), rated.makespan});
    if (budget_.seconds) budget_.seconds = both.Left();
    if (options_.methods.empty()) SearchFrom(first, planner);
  }

  void SearchFrom(std::size_t entry, const Planner& planner) {
    const PoolEntry start = pool_.entries[entry];
    LocalSearchOptions search;
    search.iterations = budget_.iterations;
    search.seconds = budget_.seconds;
    Random stream = options_.random.Fork(1);
    LocalSearch local_search(pool_.fusions[static_cast<std::size_t>(start.fusion)].costed);
    RatedAssignment found = local_search.Improve(start.assignment, search, stream);
    ++pool_.proposed;
    if (found.makespan < start.proxy_seconds)
      pool_.entries.push_back(
          {start.fusion, planner.name() + "+local-search", std::move(found.assignment), found.makespan});
  }

  const CostModel& model_;
  const PoolOptions& options_;
  const PoolWatch& watch_;
  Deadline deadline_;
  std::vector<std::unique_ptr<const Planner>> planners_;
  std::vector<Task> tasks_;
  Budget budget_;
  Pool pool_;
  double longest_costing_ = 0;
  double taken_ = 0, expected_ = 0;  // seconds of heuristics
  double fastest_ = std::numeric_limits<double>::infinity();
  bool enough_ = false;
};

}  // namespace

double Pool::ShareOf(int fusion) const {
  double fastest = std::numeric_limits<double>::infinity();
  double own = fastest;
  for (const PoolEntry& entry : entries) {
    fastest = std::min(fastest, entry.proxy_seconds);
    if (entry.fusion == fusion) own = std::min(own, entry.proxy_seconds);
  }
  return own > kBehind * fastest ? kShareOfBehind : 1;
}

int Pool::NumberOf(PoolFusion fusion) {
  const auto same = std::find_if(fusions.begin(), fusions.end(), [&fusion](const PoolFusion& known) {
    return known.costed.groups == fusion.costed.groups;
  });
  const auto number = static_cast<int>(same - fusions.begin());
  if (same == fusions.end()) fusions.push_back(std::move(fusion));
  return number;
}

Pool MakePool(const CostModel& model, const PlannerRegistry& planners, const std::vector<FusionOption>& fusions,
              const PoolOptions& options, const PoolWatch& watch) {
  return PoolMaker(model, planners, options, watch).Make(fusions);
}

std::vector<FusionOption> OpenFusions(const Pool& pool) {
  std::vector<FusionOption> options;
  for (const PoolFusion& fusion : pool.fusions) {
    if (fusion.open_to_all) options.push_back({fusion.name, fusion.costed.groups});
  }
  return options;
}

Candidate MakeCandidate(const Pool& pool, const PoolEntry& entry) {
  const PoolFusion& fusion = pool.fusions[static_cast<std::size_t>(entry.fusion)];
  Candidate candidate;
  candidate.plan = Plan{fusion.costed.groups, entry.assignment.placement, entry.assignment.sequence};
  candidate.method = entry.method;
  candidate.fusion = fusion.name;
  candidate.proxy_seconds = entry.proxy_seconds;
  return candidate;
}

}  // namespace millrace
