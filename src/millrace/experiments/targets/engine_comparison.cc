// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/targets/engine_comparison.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "millrace/cost/analytic_cost.h"
#include "millrace/experiments/summary.h"
#include "millrace/optimize/optimize.h"
#include "millrace/runtime/host_units.h"
#include "millrace/target/statistics.h"
#include "millrace/target/target.h"

namespace millrace {
namespace {

constexpr char kBest[] = "best";

// A way, made ready.
struct Ready {
  EngineRun run;
  std::unique_ptr<LoadedPlan> plan;
};

class Comparison {
 public:
  Comparison(const LoadedGraph& loaded, const Machine& machine, const EngineComparisonOptions& options)
      : loaded_(loaded), machine_(machine), options_(options), cost_(MakeAnalyticCostModel(loaded.graph, machine)) {}

  void Plan(const std::string& engine, const PlannerRegistry& planners,
            const std::function<void(std::string_view)>& progress) {
    OptimizeOptions optimize;
    optimize.target = engine;
    optimize.seed = options_.seed;
    optimize.quick = !options_.planning_seconds;
    optimize.time_limit = options_.planning_seconds;
    optimize.profile_cache = options_.profile_cache;
    const OptimizeResult result = Optimize(loaded_, machine_, planners, optimize, [&](const OptimizeStep& step) {
      progress(engine + ": " + std::string(step.stage));
    });
    TargetContext context;
    context.graph = &loaded_.graph;
    context.machine = &machine_;
    context.cost = cost_.get();
    context.model = &*loaded_.model;
    context.seed = options_.seed;
    targets_.push_back(MakeTarget(engine, context));
    for (const BaselineResult& baseline : result.baselines) Load({engine, baseline.name, "", {}}, baseline.candidate);
    Load({engine, kBest, result.best.method, {}}, result.best);
    for (OwnMode& mode : targets_.back()->LoadOwnModes())
      ready_.push_back({{engine, mode.name, "", {}}, std::move(mode.plan)});
  }

  EngineComparison Run(std::string name) {
    std::vector<LoadedPlan*> plans;
    double round_seconds = 0;
    for (const Ready& ready : ready_) {
      plans.push_back(ready.plan.get());
      std::string failure;
      round_seconds += TryRun(*ready.plan, &failure).value_or(0);
    }
    MeasureOptions measure;
    measure.cpus = UnitsOf(machine_);
    constexpr double kFewestRounds = 5;
    measure.repetitions = static_cast<int>(
        std::clamp(options_.seconds / std::max(round_seconds, 1e-9), kFewestRounds, 1.0 * options_.most_rounds));
    std::vector<Measurement> measured = MeasureInterleaved(plans, measure);
    EngineComparison comparison{std::move(name), {}, false, measure.cpus.size()};
    for (std::size_t i = 0; i < ready_.size(); ++i) {
      ready_[i].run.measured = std::move(measured[i]);
      comparison.disturbed = comparison.disturbed || ready_[i].run.measured.disturbed;
      comparison.runs.push_back(std::move(ready_[i].run));
    }
    return comparison;
  }

 private:
  void Load(EngineRun run, const Candidate& candidate) {
    run.measured.failed = true;
    std::unique_ptr<LoadedPlan> plan = TryLoad(*targets_.back(), candidate.plan, &run.measured.error);
    if (plan != nullptr) ready_.push_back({std::move(run), std::move(plan)});
  }

  const LoadedGraph& loaded_;
  const Machine& machine_;
  const EngineComparisonOptions& options_;
  std::unique_ptr<CostModel> cost_;
  std::vector<std::unique_ptr<Target>> targets_;
  std::vector<Ready> ready_;
};

// Does an engine run so without a plan of ours?
bool ByItself(const EngineRun& run) { return run.way != kBest && run.way != "heft"; }

const EngineRun* Fastest(const EngineComparison& comparison, const std::string& engine, bool by_itself) {
  const EngineRun* fastest = nullptr;
  for (const EngineRun& run : comparison.runs) {
    if (run.engine != engine || run.measured.failed || ByItself(run) != by_itself) continue;
    if (!by_itself && run.way != kBest) continue;
    if (fastest == nullptr || run.measured.median < fastest->measured.median) fastest = &run;
  }
  return fastest;
}

// The first run of the engine that did not fail and `is` so; null: there is none.
template <typename Is>
const EngineRun* Find(const EngineComparison& comparison, const std::string& engine, const Is& is) {
  for (const EngineRun& run : comparison.runs) {
    if (run.engine == engine && is(run) && !run.measured.failed) return &run;
  }
  return nullptr;
}

Cell TimesOf(const EngineRun* run) {
  if (run == nullptr) return Words("-");
  return Words(fmt::format("{:.3f} / {:.3f}", 1e3 * run->measured.median, 1e3 * run->measured.min));
}

// Of one engine over models.
struct Ratios {
  std::string engine;
  std::vector<double> best, even_split;
};

Ratios& RatiosOf(const std::string& engine, std::vector<Ratios>& ratios) {
  const auto of =
      std::find_if(ratios.begin(), ratios.end(), [&engine](const Ratios& one) { return one.engine == engine; });
  return of == ratios.end() ? ratios.emplace_back(Ratios{engine, {}, {}}) : *of;
}

std::vector<std::string> EnginesOf(const EngineComparison& comparison) {
  std::vector<std::string> engines;
  for (const EngineRun& run : comparison.runs) {
    if (engines.empty() || engines.back() != run.engine) engines.push_back(run.engine);
  }
  return engines;
}

}  // namespace

EngineComparison CompareEngines(const std::string& name, const LoadedGraph& loaded, const Machine& machine,
                                const PlannerRegistry& planners, const EngineComparisonOptions& options,
                                const std::function<void(std::string_view)>& progress) {
  Comparison comparison(loaded, machine, options);
  for (const std::string& engine : options.engines) comparison.Plan(engine, planners, progress);
  progress("all in turn");
  return comparison.Run(name);
}

std::vector<Table> EngineTables(const std::vector<EngineComparison>& comparisons) {
  Table engines{
      "engines",
      "Milliseconds, median / fastest of rounds in which all ways run in turn. other mode: one that "
      "is no plan. best way / best plan: the first engine's fastest way without a plan over this engine's best "
      "plan, with the 95 % interval. best way / even split: the same over this engine's time on one core, by the "
      "number of processors.",
      {"model", "engine", "one core", "all cores", "other mode", "heft", "best plan", "by", "best way / best plan",
       "best way / even split"},
      {}};
  std::vector<Ratios> ratios;
  for (const EngineComparison& comparison : comparisons) {
    const std::vector<std::string> names = EnginesOf(comparison);
    if (names.empty()) continue;
    const EngineRun* const reference = Fastest(comparison, names.front(), true);
    for (const std::string& engine : names) {
      const auto named = [&](const char* way) {
        return Find(comparison, engine, [way](const EngineRun& run) { return run.way == way; });
      };
      const EngineRun* const other = Find(comparison, engine, [](const EngineRun& run) {
        return ByItself(run) && run.way != "sequential" && run.way != "all-cores";
      });
      const EngineRun* const best = Fastest(comparison, engine, false);
      const EngineRun* const one_core = named("sequential");
      Cell ratio = Words("-");
      Cell even_split = Words("-");
      if (reference != nullptr && one_core != nullptr) {
        const double value =
            static_cast<double>(comparison.processors) * reference->measured.median / one_core->measured.median;
        even_split = Number(value, 2);
        RatiosOf(engine, ratios).even_split.push_back(value);
      }
      if (reference != nullptr && best != nullptr) {
        const Interval interval = RatioOfMedians(reference->measured.times, best->measured.times);
        const double value = reference->measured.median / best->measured.median;
        ratio = Range(value, interval.low, interval.high, 2);
        RatiosOf(engine, ratios).best.push_back(value);
      }
      engines.rows.push_back({Words(comparison.model + (comparison.disturbed ? " (disturbed)" : "")), Words(engine),
                              TimesOf(one_core), TimesOf(named("all-cores")), TimesOf(other), TimesOf(named("heft")),
                              TimesOf(named(kBest)), Words(best == nullptr ? "" : best->method), ratio, even_split});
    }
  }
  Table means{"means",
              "Geometric mean, least and most over models.",
              {"engine", "models", "best way / best plan", "least", "most", "best way / even split"},
              {}};
  for (const auto& [engine, best, even_split] : ratios) {
    if (best.empty()) continue;
    means.rows.push_back({Words(engine), Count(best.size()), Number(GeometricMean(best), 3),
                          Number(*std::min_element(best.begin(), best.end()), 2),
                          Number(*std::max_element(best.begin(), best.end()), 2),
                          even_split.empty() ? Words("-") : Number(GeometricMean(even_split), 3)});
  }
  return {means, engines};
}

}  // namespace millrace
