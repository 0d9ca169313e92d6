// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/formats/model_graph.h"
#include "millrace/heuristics/list_schedulers.h"
#include "millrace/heuristics/placement_orders.h"
#include "millrace/heuristics/placements.h"
#include "millrace/machine/preset.h"
#include "millrace/memory/run_in_memory.h"
#include "millrace/optimize/optimize.h"
#include "millrace/simulate/memory_check.h"
#include "millrace/target/target.h"
#include "millrace/workloads/go_workloads.h"
#include "millrace/workloads/models.h"
#include "millrace/workloads/random_graph.h"
#include "tests/optimize/no_progress.h"
#include "tests/optimize/shipped_planners.h"
#include "tests/reference/sanitized.h"
#include "tests/workloads/small_models.h"

// The promise of the whole: nobody does better with one of its methods, nor with a plan that lies at hand.
namespace millrace {
namespace {

using testing::ShippedPlanners;

constexpr std::int64_t kSamples = 12;
constexpr std::int64_t kIterations = 2000;
constexpr std::uint64_t kSeed = 3;

// Each graph is planned by every method. Under sanitizers the first has to do.
constexpr std::uint64_t kGraphsOfAFamily = 8;

struct Case {
  std::string name;
  ComputationGraph graph;
  Machine machine;
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  const std::vector<std::string> machines = {"homogeneous:4,latency=1e-3,bandwidth=1e9",
                                             "homogeneous:3,latency=0.2,bandwidth=2e8",
                                             "homogeneous:2,latency=0,bandwidth=1e9"};
  for (const std::string_view family : {"layered", "er", "sbm", "ws", "ba"}) {
    for (std::uint64_t seed = 0; seed < kGraphsOfAFamily; ++seed) {
      RandomGraphOptions options;
      options.ops = 8 + static_cast<std::int64_t>(seed) * 3;
      options.ccr = seed % 3 == 0 ? 5 : 1;
      options.seed = 900 + seed;
      cases.push_back({std::string(family) + " " + std::to_string(seed), MakeRandomGraph(family, options),
                       *MachinePreset(machines[seed % machines.size()])});
    }
  }
  for (const char* name : {"gnmt", "transformer_xl", "rnnlm"}) {
    ModelOptions options = SmallOptions(name);
    options.draw_weights = false;
    cases.push_back({name, GraphOfModel(MakeModel(name, options)), *MachinePreset("p100x4")});
  }
  if (testing::kSanitized) cases.resize(1);
  return cases;
}

class NeverWorse : public ::testing::TestWithParam<const char*> {
 protected:
  // What the plan takes on the target.
  static double SecondsOn(Target& target, const CostedGraph& costed, const Assignment& assignment) {
    return target.Load({costed.groups, assignment.placement, assignment.sequence})->Run();
  }
};

TEST_P(NeverWorse, ThanAnyMethodAloneOrAnyPlacementByHandInAnyOrder) {
  for (const Case& problem : Cases()) {
    LoadedGraph loaded;
    loaded.graph = problem.graph;
    OptimizeOptions options;
    options.target = GetParam();
    options.samples = kSamples;
    options.iterations = kIterations;
    options.seed = kSeed;
    const OptimizeResult result = Optimize(loaded, problem.machine, ShippedPlanners(), options, testing::kNoProgress);
    ASSERT_TRUE(result.best.target_seconds) << problem.name;
    const double most = *result.best.target_seconds / (1 + 1e-9);

    const std::unique_ptr<CostModel> model =
        MakeAnalyticCostModel(problem.graph, problem.machine, UsualProxy(problem.machine));
    const std::unique_ptr<Target> target =
        MakeTarget(GetParam(), {&problem.graph, &problem.machine, model.get(), nullptr, kSeed});
    const CostedGraph costed = MakeCostedGraph(*model, SingleOpGroups(problem.graph));
    for (const std::string& name : ShippedPlanners().PoolNames()) {
      const std::unique_ptr<Planner> planner = ShippedPlanners().Make(name);
      const PlanningProblem given =
          planner->traits().chooses_fusion ? PlanningProblem(*model) : PlanningProblem(*model, costed);
      Budget budget;
      budget.samples = kSamples;
      budget.iterations = kIterations;
      Random random(kSeed);
      const std::optional<BestOf> alone = RunPlannerInMemory(*planner, given, budget, random, 1);
      if (!alone) continue;
      const RatedAssignment& best = alone->kept.front();
      EXPECT_LE(most, SecondsOn(*target, best.costed ? *best.costed : costed, best.assignment))
          << problem.name << ", " << name;
    }
    for (const std::vector<int>& placement :
         {PlaceByLayers(costed), PlaceByPartition(costed), result.best.plan.placement}) {
      if (placement.size() != static_cast<std::size_t>(costed.num_groups)) continue;
      for (const OrderedPlacement& placed : PlacedInOrders(costed, placement))
        EXPECT_LE(most, SecondsOn(*target, costed, placed.planned.assignment)) << problem.name << ", " << placed.order;
    }
  }
}

TEST_P(NeverWorse, ThanOneOpAfterTheOtherOrLayersInBlocksHoweverLittleTime) {
  for (const char* host : {"p100x2", "p100x8"}) {
    for (const GoWorkload& workload : ShortGoWorkloads()) {
      if (workload.devices != 8 || (testing::kSanitized && workload.family != "rnnlm")) continue;
      LoadedGraph loaded;
      loaded.graph = MakeGoWorkload(workload);
      const Machine machine = *MachinePreset(host);
      OptimizeOptions options;
      options.target = GetParam();
      options.time_limit = 1e-9;
      options.seed = kSeed;
      const OptimizeResult result = Optimize(loaded, machine, ShippedPlanners(), options, testing::kNoProgress);
      ASSERT_TRUE(result.best.target_seconds) << workload.name << ", " << host;

      const std::unique_ptr<CostModel> model = MakeAnalyticCostModel(loaded.graph, machine, UsualProxy(machine));
      const CostedGraph costed = MakeCostedGraph(*model, UnfusedGroups(*model));
      const std::unique_ptr<Target> target =
          MakeTarget(GetParam(), {&loaded.graph, &machine, model.get(), nullptr, kSeed});
      for (const Assignment& obvious : {ScheduleSequential(costed).assignment, ScheduleExpert(costed).assignment}) {
        if (!FitsInMemory(costed, obvious)) continue;
        EXPECT_LE(*result.best.target_seconds, SecondsOn(*target, costed, obvious) * (1 + 1e-9))
            << workload.name << ", " << host;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, NeverWorse,
                         ::testing::Values("sim:noise,sigma=0", "sim:contention", "sim:greedy+contention"));

}  // namespace
}  // namespace millrace
