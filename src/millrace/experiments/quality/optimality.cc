// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality/optimality.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <utility>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/interrupt.h"
#include "millrace/experiments/method.h"
#include "millrace/experiments/summary.h"
#include "millrace/planning/deadline.h"
#include "millrace/simulate/bounds.h"
#include "millrace/simulate/proven_bound.h"
#include "millrace/target/statistics.h"
#include "millrace/workloads/random_graph.h"

namespace millrace {
namespace {

constexpr std::uint64_t kOptimalitySeed = kQualitySeed + 50'000;

struct Proof {
  QualityInstance instance;
  bool proven = false;
  double makespan = 0;
  double gap = 0;       // of the bound it stopped with
  double root_gap = 0;  // of ProvenBound
  double seconds = 0;
};

Proof Prove(const QualityInstance& instance, const CostedGraph& costed, const OptimalityOptions& options) {
  const auto [result, seconds] = ProveTimed(costed, options, instance.seed);
  Proof proof{instance, result.proven, result.best->makespan, 0, 0, seconds};
  proof.gap = Gap(proof.makespan, result.bound);
  proof.root_gap = Gap(proof.makespan, ProvenBound(costed));
  return proof;
}

std::vector<Cell> ShareRow(const std::string& what, const std::string& value, const std::vector<const Proof*>& proofs) {
  std::size_t proven = 0;
  double worst_gap = 0;
  std::vector<double> seconds, root_gaps;
  for (const Proof* proof : proofs) {
    proven += proof->proven ? 1 : 0;
    worst_gap = std::max(worst_gap, proof->gap);
    seconds.push_back(proof->seconds);
    root_gaps.push_back(100 * proof->root_gap);
  }
  return {Words(what),
          Words(value),
          Count(proofs.size()),
          Count(proven),
          Number(100.0 * static_cast<double>(proven) / static_cast<double>(proofs.size()), 1),
          Number(Median(seconds), 2),
          Number(*std::max_element(seconds.begin(), seconds.end()), 1),
          Number(100 * worst_gap, 3),
          Number(Mean(root_gaps), 1)};
}

Table ProvenTable(const std::vector<Proof>& proofs, double seconds) {
  Table table{"proven",
              fmt::format("Random graphs whose best plan `exact` proves in {} s.", seconds),
              {"by", "value", "graphs", "proven", "%", "median s", "longest s", "worst gap left, %",
               "best over the bound without search, mean %"},
              {}};
  const auto add = [&](const std::string& what, const auto& value_of, const std::vector<std::string>& values) {
    for (const std::string& value : values) {
      std::vector<const Proof*> of_value;
      for (const Proof& proof : proofs) {
        if (value_of(proof.instance) == value) of_value.push_back(&proof);
      }
      if (!of_value.empty()) table.rows.push_back(ShareRow(what, value, of_value));
    }
  };
  add("ops", [](const QualityInstance& i) { return std::to_string(i.ops); }, {"10", "15", "20", "30"});
  add("devices", [](const QualityInstance& i) { return i.devices; }, {"2", "4", "8", "2+2", "4+4"});
  add("CCR", [](const QualityInstance& i) { return fmt::format("{}", i.ccr); }, {"0.1", "1", "10"});
  add(
      "family", [](const QualityInstance& i) { return i.family; }, RandomFamilyNames());
  add("all", [](const QualityInstance&) { return std::string("-"); }, {"-"});
  return table;
}

// How a planner's plans compare with the proven best.
struct Rival {
  Method method;
  std::vector<double> gaps;
  std::vector<double> seconds;
};

std::vector<Rival> RivalsOf(const PlannerRegistry& planners, const OptimalityOptions& options) {
  std::vector<Rival> rivals;
  for (const std::string& name : planners.PoolNames()) {
    const PlannerTraits& traits = planners.Traits(name);
    Budget budget;
    budget.samples = traits.usual_samples;
    if (traits.takes_iterations || traits.takes_samples) budget.seconds = options.planner_seconds;
    if (traits.takes_samples && !traits.takes_iterations) budget.samples = std::numeric_limits<std::int64_t>::max();
    rivals.push_back({{name, planners.Make(name), budget, 1}, {}, {}});
  }
  return rivals;
}

void AskRivals(std::vector<Rival>& rivals, const Proof& proof, const PlanningProblem& problem, std::uint64_t seed) {
  for (std::size_t i = 0; i < rivals.size(); ++i) {
    Random random = Random(seed).Fork(proof.instance.seed).Fork(i);
    const Answer answer = Ask(rivals[i].method, problem, random);
    if (answer.plans.empty()) continue;
    rivals[i].gaps.push_back(std::max(0.0, Gap(answer.plans.front().makespan, proof.makespan)));
    rivals[i].seconds.push_back(answer.seconds);
  }
}

Table PlannersTable(const std::vector<Rival>& rivals) {
  constexpr double kSame = 1e-9;
  Table table{"planners",
              "Planners on the graphs whose best plan is proven.",
              {"planner", "budget", "graphs", "best found, %", "mean gap, %", "worst gap, %", "mean s"},
              {}};
  for (const Rival& rival : rivals) {
    if (rival.gaps.empty()) continue;
    const auto found = std::count_if(rival.gaps.begin(), rival.gaps.end(), [](double gap) { return gap <= kSame; });
    table.rows.push_back({Words(rival.method.name), Words(BudgetWords(rival.method.budget)), Count(rival.gaps.size()),
                          Number(100.0 * static_cast<double>(found) / static_cast<double>(rival.gaps.size()), 1),
                          Number(100 * Mean(rival.gaps), 2),
                          Number(100 * *std::max_element(rival.gaps.begin(), rival.gaps.end()), 1),
                          Number(Mean(rival.seconds), 3)});
  }
  return table;
}

Table InstancesTable(const std::vector<Proof>& proofs) {
  Table table{"instances",
              "",
              {"ops", "devices", "CCR", "family", "seed", "proven", "makespan", "gap left", "seconds"},
              {},
              true};
  for (const Proof& proof : proofs) {
    table.rows.push_back({Count(static_cast<std::size_t>(proof.instance.ops)), Words(proof.instance.devices),
                          Number(proof.instance.ccr, 1), Words(proof.instance.family),
                          Count(static_cast<std::size_t>(proof.instance.seed)), Count(proof.proven ? 1 : 0),
                          Number(proof.makespan, 9), Number(proof.gap, 9), Number(proof.seconds, 3)});
  }
  return table;
}

}  // namespace

TimedProof ProveTimed(const CostedGraph& costed, const OptimalityOptions& options, std::uint64_t stream) {
  ExactOptions exact;
  exact.seconds = options.seconds;
  exact.threads = options.threads;
  Random random = Random(options.seed).Fork(stream);
  const Deadline clock;
  TimedProof proof{SolveExactly(costed, exact, random), 0};
  proof.seconds = clock.Elapsed();
  return proof;
}

std::vector<QualityInstance> OptimalityGrid(bool quick) {
  std::vector<QualityInstance> grid;
  std::uint64_t seed = kOptimalitySeed;
  for (const int ops : {10, 15, 20, 30}) {
    for (const char* devices : {"2", "4", "8", "2+2", "4+4"}) {
      for (const double ccr : {0.1, 1.0, 10.0}) {
        for (const std::string& family : RandomFamilyNames()) {
          const bool in_quick = (ops == 10 || ops == 20) && devices[0] == '2' && ccr >= 1;
          if (!quick || in_quick) grid.push_back({ops, devices, ccr, family, 0, seed});
          ++seed;
        }
      }
    }
  }
  return grid;
}

std::vector<Table> OptimalityTables(const OptimalityOptions& options, const PlannerRegistry& planners,
                                    const std::function<void(int, int)>& progress) {
  const std::vector<QualityInstance> grid = OptimalityGrid(options.quick);
  std::vector<Rival> rivals = RivalsOf(planners, options);
  std::vector<Proof> proofs;
  for (const QualityInstance& instance : grid) {
    StopIfInterrupted();
    const ComputationGraph graph = MakeQualityGraph(instance);
    const std::unique_ptr<CostModel> model = MakeAnalyticCostModel(graph, MakeQualityMachine(instance));
    const CostedGraph costed = MakeCostedGraph(*model, SingleOpGroups(graph));
    proofs.push_back(Prove(instance, costed, options));
    // Every third one of them is enough to tell planners apart.
    constexpr std::size_t kOneOf = 3;
    if (proofs.back().proven && proofs.size() % kOneOf == 0)
      AskRivals(rivals, proofs.back(), PlanningProblem(*model, costed), options.seed);
    progress(static_cast<int>(proofs.size()), static_cast<int>(grid.size()));
  }
  return {ProvenTable(proofs, options.seconds), PlannersTable(rivals), InstancesTable(proofs)};
}

}  // namespace millrace
