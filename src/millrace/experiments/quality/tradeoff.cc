// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality/tradeoff.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/experiments/curve_plot.h"
#include "millrace/experiments/diversity.h"
#include "millrace/experiments/quality/families.h"
#include "millrace/experiments/summary.h"
#include "millrace/heuristics/heuristics.h"
#include "millrace/planning/parallel.h"

namespace millrace {
namespace {

constexpr std::uint64_t kFirstTradeoffSeed = kQualitySeed + 700'000;
constexpr char kJudged[] = "gflownet";
constexpr double kSoftmaxTemperatures[] = {0.25, 0.5, 1, 1.5, 2};
constexpr double kDoubts[] = {0.25, 0.5, 1, 2, 4, 8};
constexpr double kShares[] = {1, 0.25, 0.0625};

struct Levels {
  std::string curve, planner, option, sign;  // "T" in front of the level
  std::vector<double> levels;
  bool chains = false;  // a search from each plan kept
};

Budget DrawingFor(double seconds) {
  Budget budget;
  budget.samples = std::numeric_limits<std::int64_t>::max();
  budget.seconds = seconds;
  return budget;
}

void AddDrawn(const TradeoffOptions& options, const PlannerRegistry& planners, const Levels& of,
              std::vector<TradeoffMethod>& methods) {
  for (const double level : of.levels) {
    PlannerSettings settings;
    settings.Set(of.option, {level});
    if (of.chains) settings.Set("chains", {static_cast<double>(options.keep)});
    methods.push_back({of.curve,
                       fmt::format("{} = {:g}", of.sign, level),
                       {of.curve, planners.Make(of.planner, settings), DrawingFor(options.seconds), options.keep}});
  }
}

void AddSearched(const TradeoffOptions& options, const PlannerRegistry& planners, const std::string& name,
                 std::vector<TradeoffMethod>& methods) {
  const std::vector<PlannerOption>& known = planners.Traits(name).options;
  const auto takes = [&known](const char* option) {
    return std::any_of(known.begin(), known.end(), [option](const PlannerOption& one) { return one.name == option; });
  };
  const auto keep = static_cast<double>(options.keep);
  for (const double share : kShares) {
    PlannerSettings settings;
    Budget budget;
    budget.seconds = share * options.seconds;
    if (takes("chains")) settings.Set("chains", {keep});
    if (takes("population")) settings.Set("population", {std::max(10.0, 2.0 * keep)});
    methods.push_back(
        {name, fmt::format("{:g} s", *budget.seconds), {name, planners.Make(name, settings), budget, options.keep}});
  }
}

std::vector<QualityInstance> TradeoffInstances(const TradeoffOptions& options) {
  std::vector<QualityInstance> instances;
  for (const int ops : options.ops) {
    for (const std::string& devices : options.devices) {
      for (const double ccr : options.ccr) {
        for (const std::string& family : FamiliesOf(options.families))
          instances.push_back({ops, devices, ccr, family, 0, kFirstTradeoffSeed + instances.size()});
      }
    }
  }
  return instances;
}

TradeoffPoint PointOf(const TradeoffMethod& method, const PlanningProblem& problem, double reference, Random random) {
  const Answer answer = Ask(method.method, problem, random);
  if (answer.plans.empty()) throw WorkFailed("method " + method.curve + " found no plan that fits");
  std::vector<double> makespans;
  for (const RatedAssignment& plan : answer.plans) makespans.push_back(plan.makespan);
  TradeoffPoint point;
  point.plans = answer.plans.size();
  point.mean = Mean(makespans) / reference;
  point.best = makespans.front() / reference;
  if (point.plans > 1) point.distance = DiversityOf(problem.costed(), answer.plans).edit;
  point.seconds = answer.seconds;
  return point;
}

// Over some of the instances.
struct MeanPoint {
  double mean = 0, best = 0, distance = 0, seconds = 0, plans = 0;
};

MeanPoint OverInstances(const TradeoffResult& result, std::size_t method, const std::vector<std::size_t>& instances) {
  MeanPoint sum;
  const auto count = static_cast<double>(instances.size());
  for (const std::size_t i : instances) {
    const TradeoffPoint& point = result.points[i][method];
    sum.mean += std::log(point.mean) / count;
    sum.best += std::log(point.best) / count;
    sum.distance += point.distance / count;
    sum.seconds += point.seconds / count;
    sum.plans += static_cast<double>(point.plans) / count;
  }
  sum.mean = std::exp(sum.mean);
  sum.best = std::exp(sum.best);
  return sum;
}

std::vector<std::size_t> All(const TradeoffResult& result) {
  std::vector<std::size_t> all(result.instances.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

std::vector<std::pair<double, double>> CurveOf(const TradeoffResult& result, const std::string& name,
                                               const std::vector<std::size_t>& instances) {
  std::vector<std::pair<double, double>> curve;
  for (std::size_t m = 0; m < result.methods.size(); ++m) {
    if (result.methods[m].curve != name) continue;
    const MeanPoint point = OverInstances(result, m, instances);
    curve.emplace_back(point.distance, point.mean);
  }
  return curve;
}

// Its plans' time over that of the judged curve's plans that are at least as different.
Cell AgainstJudged(const TradeoffResult& result, std::size_t method) {
  if (result.methods[method].curve == kJudged) return Words("");
  std::vector<double> numbers;
  for (const std::size_t i : All(result)) numbers.push_back(static_cast<double>(i));
  const Estimate ratio = Bootstrap(numbers, [&](std::span<const double> drawn) {
    std::vector<std::size_t> instances;
    for (const double number : drawn) instances.push_back(static_cast<std::size_t>(number));
    const MeanPoint own = OverInstances(result, method, instances);
    return own.mean / LeastAtDistance(CurveOf(result, kJudged, instances), own.distance);
  });
  if (ratio.value == 0) return Words("none is as different");
  return Range(ratio.value, ratio.low, ratio.high, 4);
}

}  // namespace

std::vector<TradeoffMethod> TradeoffMethods(const TradeoffOptions& options, const PlannerRegistry& planners,
                                            const PlannerRegistry* ppo) {
  std::vector<TradeoffMethod> methods;
  const std::vector<double> softmax(std::begin(kSoftmaxTemperatures), std::end(kSoftmaxTemperatures));
  AddDrawn(options, planners, {kJudged, "gflownet", "temperature", "T", options.temperatures}, methods);
  AddDrawn(options, planners, {"gflownet-untrained", "gflownet-untrained", "temperature", "T", options.temperatures},
           methods);
  if (ppo != nullptr) AddDrawn(options, *ppo, {"ppo", "gflownet", "softmax-temperature", "softmax", softmax}, methods);
  AddDrawn(options, planners,
           {"randomised-list", "randomised-list", "doubt", "doubt", {std::begin(kDoubts), std::end(kDoubts)}}, methods);
  AddSearched(options, planners, "brkga", methods);
  AddSearched(options, planners, "anneal", methods);
  for (const char* name : {"gflownet+search", "gflownet-untrained+search"})
    AddDrawn(options, planners, {name, name, "temperature", "T", options.temperatures, true}, methods);
  return methods;
}

TradeoffResult RunTradeoff(const TradeoffOptions& options, const std::vector<TradeoffMethod>& methods,
                           const std::function<void(int, int)>& progress) {
  TradeoffResult result{methods, TradeoffInstances(options), {}};
  result.points.resize(result.instances.size());
  const Random random(options.seed);
  RunInParallel(
      static_cast<int>(result.instances.size()), options.threads,
      [&](int number) {
        const auto i = static_cast<std::size_t>(number);
        const CostedGraph costed = MakeQualityProblem(result.instances[i]);
        const PlanningProblem problem(costed);
        const double reference = HeftReferenceMakespan(costed);
        for (std::size_t m = 0; m < methods.size(); ++m) {
          StopIfInterrupted();
          result.points[i].push_back(PointOf(methods[m], problem, reference, random.Fork(i).Fork(m)));
        }
      },
      progress);
  return result;
}

double LeastAtDistance(std::vector<std::pair<double, double>> curve, double distance) {
  std::sort(curve.begin(), curve.end());
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < curve.size(); ++i) {
    if (curve[i].first >= distance) least = std::min(least, curve[i].second);
    if (i == 0 || curve[i - 1].first >= distance || curve[i].first < distance) continue;
    const double share = (distance - curve[i - 1].first) / (curve[i].first - curve[i - 1].first);
    least = std::min(least, curve[i - 1].second + share * (curve[i].second - curve[i - 1].second));
  }
  return least;
}

std::vector<Table> TradeoffTables(const TradeoffResult& result) {
  Table points{"points",
               fmt::format("Mean over the plans kept, then over {} instances.", result.instances.size()),
               {"method", "level", "makespan / heft's, mean", "best", "GED %", "plans", "seconds",
                "against the gflownet's as different"},
               {}};
  const std::vector<std::size_t> all = All(result);
  for (std::size_t m = 0; m < result.methods.size(); ++m) {
    const MeanPoint point = OverInstances(result, m, all);
    points.rows.push_back({Words(result.methods[m].curve), Words(result.methods[m].level), Number(point.mean, 4),
                           Number(point.best, 4), Number(100 * point.distance, 1), Number(point.plans, 1),
                           Number(point.seconds, 3), AgainstJudged(result, m)});
  }
  Table every{"instances",
              "",
              {"family", "ops", "devices", "ccr", "seed", "method", "level", "makespan / heft's, mean", "best", "GED %",
               "plans", "seconds"},
              {},
              true};
  for (std::size_t i = 0; i < result.instances.size(); ++i) {
    const QualityInstance& instance = result.instances[i];
    for (std::size_t m = 0; m < result.methods.size(); ++m) {
      const TradeoffPoint& point = result.points[i][m];
      every.rows.push_back({Words(instance.family), Count(static_cast<std::size_t>(instance.ops)),
                            Words(instance.devices), Number(instance.ccr, 3), Count(instance.seed),
                            Words(result.methods[m].curve), Words(result.methods[m].level), Number(point.mean, 5),
                            Number(point.best, 5), Number(100 * point.distance, 2), Count(point.plans),
                            Number(point.seconds, 4)});
    }
  }
  return {points, every};
}

std::string TradeoffPlot(const TradeoffResult& result) {
  std::vector<Curve> curves;
  const std::vector<std::size_t> all = All(result);
  for (const TradeoffMethod& method : result.methods) {
    if (!curves.empty() && curves.back().name == method.curve) continue;
    curves.push_back({method.curve, {}});
    for (const auto& [distance, makespan] : CurveOf(result, method.curve, all))
      curves.back().points.emplace_back(100 * distance, makespan);
  }
  return CurvePlot(curves,
                   {.across = "GED %, the more the more varied", .up = "makespan / HEFT's, mean", .downwards = true});
}

}  // namespace millrace
