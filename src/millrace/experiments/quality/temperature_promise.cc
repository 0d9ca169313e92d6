// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality/temperature_promise.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "millrace/errors/interrupt.h"
#include "millrace/experiments/quality/families.h"
#include "millrace/experiments/summary.h"
#include "millrace/heuristics/heuristics.h"
#include "millrace/planning/best_of.h"
#include "millrace/planning/drawn_plans.h"
#include "millrace/planning/parallel.h"

namespace millrace {
namespace {

constexpr std::uint64_t kFirstPromiseSeed = kQualitySeed + 800'000;

std::vector<QualityInstance> PromiseInstances(const PromiseOptions& options) {
  std::vector<QualityInstance> instances;
  for (const int ops : options.ops) {
    for (const std::string& devices : options.devices) {
      for (const double ccr : options.ccr) {
        for (const std::string& family : FamiliesOf(options.families))
          instances.push_back({ops, devices, ccr, family, 0, kFirstPromiseSeed + instances.size()});
      }
    }
  }
  return instances;
}

std::vector<double> Of(const std::vector<PromisePoint>& points, double PromisePoint::*member) {
  std::vector<double> values;
  for (const PromisePoint& point : points) values.push_back(point.*member);
  return values;
}

// A row for the graphs that have `value`.
void AddShare(const PromiseResult& result, const std::string& what,
              const std::function<bool(const QualityInstance&)>& chosen, Table& table) {
  std::vector<double> mean, distance, both;
  for (std::size_t i = 0; i < result.instances.size(); ++i) {
    if (!chosen(result.instances[i])) continue;
    mean.push_back(Rises(Of(result.points[i], &PromisePoint::mean)) ? 1 : 0);
    distance.push_back(Rises(Of(result.points[i], &PromisePoint::distance)) ? 1 : 0);
    both.push_back(mean.back() * distance.back());
  }
  const Estimate share = Bootstrap(both, Mean);
  table.rows.push_back({Words(what), Count(both.size()), Number(100 * Mean(mean), 1), Number(100 * Mean(distance), 1),
                        Range(100 * share.value, 100 * share.low, 100 * share.high, 1)});
}

template <typename Value>
void AddShares(const PromiseResult& result, const std::string& dimension, Value QualityInstance::*member,
               Table& table) {
  std::vector<Value> values;
  for (const QualityInstance& instance : result.instances) {
    if (std::find(values.begin(), values.end(), instance.*member) == values.end()) values.push_back(instance.*member);
  }
  for (const Value& value : values) {
    AddShare(
        result, fmt::format("{} {}", dimension, value),
        [&](const QualityInstance& instance) { return instance.*member == value; }, table);
  }
}

}  // namespace

bool Rises(const std::vector<double>& values) {
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i] < values[i - 1] * (1 - 1e-9)) return false;
  }
  return true;
}

PromiseResult TestPromise(const PromiseOptions& options, const PlannerRegistry& planners,
                          const std::function<void(int, int)>& progress) {
  PromiseResult result{options.temperatures, PromiseInstances(options), {}};
  std::sort(result.temperatures.begin(), result.temperatures.end());
  std::vector<std::unique_ptr<Planner>> made;
  for (const double temperature : result.temperatures) {
    PlannerSettings settings;
    settings.Set("temperature", {temperature});
    made.push_back(planners.Make(options.planner, settings));
  }
  result.points.resize(result.instances.size());
  const Random random(options.seed);
  Budget budget;
  budget.samples = options.samples;
  RunInParallel(
      static_cast<int>(result.instances.size()), options.threads,
      [&](int number) {
        const auto i = static_cast<std::size_t>(number);
        const CostedGraph costed = MakeQualityProblem(result.instances[i]);
        const double reference = HeftReferenceMakespan(costed);
        for (const std::unique_ptr<Planner>& planner : made) {
          StopIfInterrupted();
          const NotedPlanner noted(*planner);
          // The same draws at every temperature, as far as they can be: what differs is the temperature.
          Random stream = random.Fork(i);
          const BestOf best = RunPlanner(noted, costed, budget, stream, 1);
          result.points[i].push_back({noted.mean_makespan().value() / reference, best.kept.front().makespan / reference,
                                      noted.distance().value_or(0)});
        }
      },
      progress);
  return result;
}

std::vector<Table> PromiseTables(const PromiseResult& result) {
  Table shares{"promise",
               fmt::format("Share of {} graphs on which every step of the reward temperature ({:g} to {:g}, {} of "
                           "them) makes plans longer in the mean and more different.",
                           result.instances.size(), result.temperatures.front(), result.temperatures.back(),
                           result.temperatures.size()),
               {"graphs", "number", "mean makespan rises %", "GED rises %", "both %"},
               {}};
  AddShare(
      result, "all", [](const QualityInstance&) { return true; }, shares);
  AddShares(result, "CCR", &QualityInstance::ccr, shares);
  AddShares(result, "ops", &QualityInstance::ops, shares);
  AddShares(result, "devices", &QualityInstance::devices, shares);
  AddShares(result, "family", &QualityInstance::family, shares);
  Table levels{"promise by temperature",
               "Geometric means over the graphs of makespans over that of the better HEFT; mean distance.",
               {"reward temperature", "mean makespan / heft's", "best", "GED %"},
               {}};
  for (std::size_t t = 0; t < result.temperatures.size(); ++t) {
    std::vector<double> mean, best, distance;
    for (const std::vector<PromisePoint>& points : result.points) {
      mean.push_back(points[t].mean);
      best.push_back(points[t].best);
      distance.push_back(points[t].distance);
    }
    levels.rows.push_back({Number(result.temperatures[t], 4), Number(GeometricMean(mean), 4),
                           Number(GeometricMean(best), 4), Number(100 * Mean(distance), 1)});
  }
  return {shares, levels};
}

}  // namespace millrace
