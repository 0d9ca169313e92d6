// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality/portfolio.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/experiments/quality/families.h"
#include "millrace/experiments/quality/quality_grid.h"
#include "millrace/experiments/summary.h"
#include "millrace/machine/preset.h"
#include "millrace/optimize/optimize.h"
#include "millrace/planning/deadline.h"
#include "millrace/planning/parallel.h"
#include "millrace/workloads/go_corpus.h"
#include "millrace/workloads/go_workloads.h"

namespace millrace {
namespace {

constexpr std::uint64_t kFirstPortfolioSeed = kQualitySeed + 900'000;
constexpr std::uint64_t kFirstTuningSeed = kFirstPortfolioSeed + 1'000;
constexpr std::size_t kTrainingGraphs = 14;
constexpr std::size_t kQuickTrainingGraphs = 3;
constexpr double kBehind = 1.001;  // of the best method's makespan

void AddTaskGraphs(PortfolioUse use, bool quick, std::vector<PortfolioProblem>& problems) {
  const std::vector<int> sizes = quick ? std::vector<int>{60} : std::vector<int>{60, 200, 1000};
  const std::vector<std::string>& families = use == PortfolioUse::kTune ? TuningFamilies() : JudgingFamilies();
  const std::uint64_t first = use == PortfolioUse::kTune ? kFirstTuningSeed : kFirstPortfolioSeed;
  for (const int ops : sizes) {
    for (const char* devices : {"4", "2+2"}) {
      for (const double ccr : {1.0, 5.0}) {
        for (const std::string& family : families) {
          const QualityInstance instance = {ops, devices, ccr, family, 0, first + problems.size()};
          problems.push_back({fmt::format("{}, {} ops, {}, CCR {}", family, ops, devices, ccr), family,
                              MakeQualityGraph(instance), MakeQualityMachine(instance)});
        }
      }
    }
  }
}

PortfolioProblem Training(std::string name, const GoWorkload& workload, Machine machine) {
  return {std::move(name),    workload.family,   MakeGoWorkload(workload),
          std::move(machine), Proxy::kContended, GivenFusion::kMerged};
}

void AddWorkloads(std::vector<PortfolioProblem>& problems, std::size_t most) {
  for (const GoWorkload& workload : ShortGoWorkloads()) {
    if (most-- == 0) return;
    const std::string host = fmt::format("p100x{}", workload.devices);
    problems.push_back(Training(workload.name + ", " + host, workload, MachinePreset(host).value()));
  }
}

void AddDrawnCases(std::vector<PortfolioProblem>& problems, std::size_t count) {
  for (int number = 0; number < static_cast<int>(count); ++number) {
    GoCase drawn = DrawGoCase(kFirstTuningSeed, GoCasePurpose::kValidation, number);
    problems.push_back(Training(std::move(drawn.name), drawn.workload, std::move(drawn.machine)));
  }
}

PortfolioOutcome PlanAlone(const PortfolioProblem& problem, const Planner& planner, const PortfolioOptions& options) {
  OneMethodOptions one;
  if (!planner.traits().chooses_fusion) one.fusion = problem.fusion;
  one.time_limit = options.seconds;
  one.seed = options.seed;
  const std::unique_ptr<CostModel> model = MakeAnalyticCostModel(problem.graph, problem.machine, problem.proxy);
  const OneMethodResult result = PlanByOneMethod(*model, problem.machine, planner, one);
  return {result.record.proxy_seconds, result.wall_seconds};
}

PortfolioOutcome PlanTogether(const PortfolioProblem& problem, const PlannerRegistry& planners,
                              const PortfolioOptions& options, std::uint64_t seed) {
  LoadedGraph loaded;
  loaded.graph = problem.graph;
  OptimizeOptions optimize;
  optimize.target = problem.proxy == Proxy::kContended ? "sim:contention" : "sim:noise,sigma=0";
  optimize.proxy = problem.proxy;
  optimize.time_limit = options.seconds;
  optimize.seed = seed;
  optimize.threads = options.threads;
  const Deadline clock;
  const OptimizeResult result = Optimize(loaded, problem.machine, planners, optimize, [](const OptimizeStep&) {});
  return {result.best.proxy_seconds, clock.Elapsed()};
}

std::vector<double> Makespans(const std::vector<PortfolioOutcome>& outcomes) {
  std::vector<double> makespans;
  makespans.reserve(outcomes.size());
  for (const PortfolioOutcome& outcome : outcomes) makespans.push_back(outcome.makespan);
  return makespans;
}

std::vector<PortfolioOutcome> OfMethod(const PortfolioResult& result, std::size_t method) {
  std::vector<PortfolioOutcome> outcomes;
  for (const std::vector<PortfolioOutcome>& alone : result.alone) outcomes.push_back(alone[method]);
  return outcomes;
}

std::size_t BestAlone(const std::vector<PortfolioOutcome>& alone) {
  const auto faster = [](const PortfolioOutcome& a, const PortfolioOutcome& b) { return a.makespan < b.makespan; };
  return static_cast<std::size_t>(std::min_element(alone.begin(), alone.end(), faster) - alone.begin());
}

double PercentLonger(double makespan, double other) { return 100 * (makespan / other - 1); }

std::vector<Cell> Against(const PortfolioResult& result, const std::string& name,
                          const std::vector<PortfolioOutcome>& others) {
  const std::vector<double> own = Makespans(result.whole);
  const std::vector<double> other = Makespans(others);
  const Duel duel = Compare(own, other);
  std::size_t worst = 0;
  double seconds = 0;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own[i] / other[i] > own[worst] / other[worst]) worst = i;
    seconds += others[i].seconds / static_cast<double>(own.size());
  }
  return {Words(name),        Range(duel.ratio.value, duel.ratio.low, duel.ratio.high, 4),
          Count(duel.wins),   Count(duel.ties),
          Count(duel.losses), Number(std::max(0.0, PercentLonger(own[worst], other[worst])), 2),
          Number(seconds, 2)};
}

Table Overall(const PortfolioResult& result) {
  double longest = 0;
  for (const PortfolioOutcome& outcome : result.whole) longest = std::max(longest, outcome.seconds);
  Table table{
      "overall",
      fmt::format("Each method alone against optimize on {} problems, {} s each; optimize took {:.2f} s at most.",
                  result.problems.size(), result.options.seconds, longest),
      {"alone", "its makespan / optimize's", "optimize faster", "equal", "slower", "at most longer %", "mean s"},
      {}};
  std::vector<PortfolioOutcome> best;
  for (const std::vector<PortfolioOutcome>& alone : result.alone) best.push_back(alone[BestAlone(alone)]);
  for (std::size_t m = 0; m < result.options.methods.size(); ++m)
    table.rows.push_back(Against(result, result.options.methods[m], OfMethod(result, m)));
  table.rows.push_back(Against(result, "the best of these, in hindsight", best));
  table.rows.push_back(Against(result, "optimize with another seed", result.reseed));
  return table;
}

Table Behind(const PortfolioResult& result) {
  Table table{"behind",
              "Where the best method alone is faster than optimize by more than 0.1 %, and what another seed makes of "
              "optimize there.",
              {"problem", "best alone", "optimize takes longer by %", "with another seed %"},
              {}};
  for (std::size_t i = 0; i < result.problems.size(); ++i) {
    const std::size_t best = BestAlone(result.alone[i]);
    const double makespan = result.alone[i][best].makespan;
    if (result.whole[i].makespan <= kBehind * makespan) continue;
    table.rows.push_back({Words(result.problems[i]), Words(result.options.methods[best]),
                          Number(PercentLonger(result.whole[i].makespan, makespan), 2),
                          Number(PercentLonger(result.reseed[i].makespan, makespan), 2)});
  }
  return table;
}

Table EveryProblem(const PortfolioResult& result) {
  Table table{"problems", "", {"problem", "optimize", "optimize took", "optimize with another seed"}, {}, true};
  for (const std::string& method : result.options.methods) table.columns.push_back(method);
  for (std::size_t i = 0; i < result.problems.size(); ++i) {
    std::vector<Cell> row = {Words(result.problems[i]), Number(result.whole[i].makespan, 9),
                             Number(result.whole[i].seconds, 3), Number(result.reseed[i].makespan, 9)};
    for (const PortfolioOutcome& outcome : result.alone[i]) row.push_back(Number(outcome.makespan, 9));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

std::vector<PortfolioProblem> PortfolioProblems(PortfolioUse use, bool quick) {
  std::vector<PortfolioProblem> problems;
  AddTaskGraphs(use, quick, problems);
  const std::size_t training = quick ? kQuickTrainingGraphs : kTrainingGraphs;
  if (use == PortfolioUse::kTune) {
    AddDrawnCases(problems, training);
  } else {
    AddWorkloads(problems, training);
  }
  return problems;
}

PortfolioResult RunPortfolio(const std::vector<PortfolioProblem>& problems, const PlannerRegistry& planners,
                             const PortfolioOptions& options, const std::function<void(int, int)>& progress) {
  PortfolioResult result;
  result.options = options;
  std::vector<std::unique_ptr<Planner>> alone;
  for (const std::string& name : options.methods) alone.push_back(planners.Make(name));
  if (alone.empty()) throw InvalidInput("methods: none to hold optimize against");
  for (const PortfolioProblem& problem : problems) result.problems.push_back(problem.name);
  result.whole.resize(problems.size());
  result.reseed.resize(problems.size());
  result.alone.resize(problems.size());
  RunInParallel(
      static_cast<int>(problems.size()), options.at_once,
      [&](int number) {
        const auto i = static_cast<std::size_t>(number);
        for (const std::unique_ptr<Planner>& planner : alone) {
          StopIfInterrupted();
          result.alone[i].push_back(PlanAlone(problems[i], *planner, options));
        }
        result.whole[i] = PlanTogether(problems[i], planners, options, options.seed);
        result.reseed[i] = PlanTogether(problems[i], planners, options, options.seed + 1);
      },
      progress);
  return result;
}

std::vector<Table> PortfolioTables(const PortfolioResult& result) {
  return {Overall(result), Behind(result), EveryProblem(result)};
}

}  // namespace millrace
