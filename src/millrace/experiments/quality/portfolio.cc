// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality/portfolio.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
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
constexpr double kChance = 0.01;

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

PortfolioOutcome PlanAlone(const PortfolioProblem& problem, const Planner& planner, const PortfolioOptions& options,
                           std::uint64_t seed) {
  OneMethodOptions one;
  if (!planner.traits().chooses_fusion) one.fusion = problem.fusion;
  one.time_limit = options.seconds;
  one.seed = seed;
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

// By seed.
using Seeds = std::vector<PortfolioOutcome>;

std::vector<double> Makespans(const Seeds& seeds) {
  std::vector<double> makespans;
  for (const PortfolioOutcome& outcome : seeds) makespans.push_back(outcome.makespan);
  return makespans;
}

std::vector<double> Logs(const Seeds& seeds) {
  std::vector<double> logs = Makespans(seeds);
  for (double& value : logs) value = std::log(value);
  return logs;
}

// Geometric mean of the makespans, arithmetic mean of the seconds.
PortfolioOutcome MeanOf(const Seeds& seeds) {
  PortfolioOutcome mean;
  mean.makespan = GeometricMean(Makespans(seeds));
  for (const PortfolioOutcome& outcome : seeds) mean.seconds += outcome.seconds / static_cast<double>(seeds.size());
  return mean;
}

std::vector<Seeds> OfMethod(const PortfolioResult& result, std::size_t method) {
  std::vector<Seeds> outcomes;
  for (const std::vector<Seeds>& alone : result.alone) outcomes.push_back(alone[method]);
  return outcomes;
}

const Seeds& BestAlone(const std::vector<Seeds>& alone) {
  return *std::min_element(alone.begin(), alone.end(),
                           [](const Seeds& a, const Seeds& b) { return MeanOf(a).makespan < MeanOf(b).makespan; });
}

double PercentLonger(const Seeds& own, const Seeds& other) {
  return 100 * (MeanOf(own).makespan / MeanOf(other).makespan - 1);
}

bool EnoughForChance(const PortfolioOptions& options) { return options.seeds >= kPortfolioSeedsForChance; }

bool BeyondChance(const Seeds& own, const Seeds& other) {
  return ChanceOfDifference(Logs(own), Logs(other)) <= kChance;
}

std::vector<Cell> Against(const PortfolioResult& result, const std::string& name, const std::vector<Seeds>& others) {
  std::vector<double> own, other;
  std::size_t faster = 0, slower = 0;
  double worst = 0;
  double seconds = 0;
  for (std::size_t i = 0; i < others.size(); ++i) {
    own.push_back(MeanOf(result.whole[i]).makespan);
    other.push_back(MeanOf(others[i]).makespan);
    const double longer = PercentLonger(result.whole[i], others[i]);
    worst = std::max(worst, longer);
    seconds += MeanOf(others[i]).seconds / static_cast<double>(others.size());
    if (EnoughForChance(result.options) && BeyondChance(result.whole[i], others[i])) ++(longer > 0 ? slower : faster);
  }
  const Duel duel = Compare(own, other);
  std::vector<Cell> row = {Words(name), Range(duel.ratio.value, duel.ratio.low, duel.ratio.high, 4), Count(duel.wins),
                           Count(duel.ties), Count(duel.losses)};
  if (EnoughForChance(result.options)) row.insert(row.end(), {Count(faster), Count(slower)});
  row.insert(row.end(), {Number(worst, 2), Number(seconds, 2)});
  return row;
}

Table Overall(const PortfolioResult& result) {
  double longest = 0;
  for (const Seeds& seeds : result.whole) {
    for (const PortfolioOutcome& outcome : seeds) longest = std::max(longest, outcome.seconds);
  }
  Table table{
      "overall",
      fmt::format("Each method alone against optimize on {} problems, {} s and {} each; optimize took {:.2f} s "
                  "at most.",
                  result.problems.size(), result.options.seconds,
                  result.options.seeds == 1 ? "one seed" : fmt::format("{} seeds", result.options.seeds), longest),
      {"alone", "its makespan / optimize's", "optimize faster", "equal", "slower"},
      {}};
  if (EnoughForChance(result.options))
    table.columns.insert(table.columns.end(), {"faster beyond chance", "slower beyond chance"});
  table.columns.insert(table.columns.end(), {"at most longer %", "mean s"});
  for (std::size_t m = 0; m < result.options.methods.size(); ++m)
    table.rows.push_back(Against(result, result.options.methods[m], OfMethod(result, m)));
  std::vector<Seeds> best;
  for (const std::vector<Seeds>& alone : result.alone) best.push_back(BestAlone(alone));
  table.rows.push_back(Against(result, "the best of these, in hindsight", best));
  if (EnoughForChance(result.options)) return table;  // a seed more says nothing then that the seeds do not
  std::vector<Seeds> reseed;
  for (const PortfolioOutcome& outcome : result.reseed) reseed.push_back({outcome});
  table.rows.push_back(Against(result, "optimize with another seed", reseed));
  return table;
}

Table Behind(const PortfolioResult& result) {
  const bool enough = EnoughForChance(result.options);
  Table table{
      "behind",
      fmt::format("Where the best method alone is faster than optimize by more than 0.1 %, {}.",
                  enough ? "and every other that is so beyond chance, which would differ as much in at most one "
                           "of a hundred cases"
                         : "and what another seed makes of optimize there"),
      {"problem", "alone", "optimize takes longer by %", enough ? "beyond chance" : "with another seed %"},
      {}};
  for (std::size_t i = 0; i < result.problems.size(); ++i) {
    const Seeds& best = BestAlone(result.alone[i]);
    const Seeds& own = result.whole[i];
    for (std::size_t method = 0; method < result.alone[i].size(); ++method) {
      const Seeds& other = result.alone[i][method];
      if (MeanOf(own).makespan <= kBehind * MeanOf(other).makespan) continue;
      const bool merit = enough && BeyondChance(own, other);
      if (&other != &best && !merit) continue;
      table.rows.push_back(
          {Words(result.problems[i]), Words(result.options.methods[method]), Number(PercentLonger(own, other), 2),
           enough ? Words(merit ? "yes" : "no") : Number(PercentLonger({result.reseed[i]}, other), 2)});
    }
  }
  return table;
}

// A row for each seed.
Table EveryProblem(const PortfolioResult& result) {
  Table table{"problems", "", {"problem", "seed", "optimize", "optimize took"}, {}, true};
  if (!EnoughForChance(result.options)) table.columns.emplace_back("optimize with another seed");
  for (const std::string& method : result.options.methods) table.columns.push_back(method);
  for (std::size_t i = 0; i < result.problems.size(); ++i) {
    for (std::size_t seed = 0; seed < result.whole[i].size(); ++seed) {
      const PortfolioOutcome& own = result.whole[i][seed];
      std::vector<Cell> row = {Words(result.problems[i]), Count(result.options.seed + seed), Number(own.makespan, 9),
                               Number(own.seconds, 3)};
      if (!EnoughForChance(result.options)) row.push_back(Number(result.reseed[i].makespan, 9));
      for (const Seeds& alone : result.alone[i]) row.push_back(Number(alone[seed].makespan, 9));
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

}  // namespace

std::vector<PortfolioProblem> PortfolioProblems(PortfolioUse use, bool quick, PortfolioKinds kinds) {
  std::vector<PortfolioProblem> problems;
  if (kinds != PortfolioKinds::kTrainingGraphs) AddTaskGraphs(use, quick, problems);
  if (kinds == PortfolioKinds::kTaskGraphs) return problems;
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
  if (!EnoughForChance(options)) result.reseed.resize(problems.size());
  result.alone.resize(problems.size());
  RunInParallel(
      static_cast<int>(problems.size()), options.at_once,
      [&](int number) {
        const auto i = static_cast<std::size_t>(number);
        const auto more = static_cast<std::uint64_t>(options.seeds);
        result.alone[i].resize(alone.size());
        for (std::uint64_t seed = options.seed; seed < options.seed + more; ++seed) {
          for (std::size_t m = 0; m < alone.size(); ++m) {
            StopIfInterrupted();
            result.alone[i][m].push_back(PlanAlone(problems[i], *alone[m], options, seed));
          }
          result.whole[i].push_back(PlanTogether(problems[i], planners, options, seed));
        }
        if (!EnoughForChance(options))
          result.reseed[i] = PlanTogether(problems[i], planners, options, options.seed + more);
      },
      progress);
  return result;
}

std::vector<Table> PortfolioTables(const PortfolioResult& result) {
  return {Overall(result), Behind(result), EveryProblem(result)};
}

}  // namespace millrace
