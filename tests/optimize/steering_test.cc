// SPDX-License-Identifier: Apache-2.0
#include "millrace/cost/steering.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/machine/preset.h"
#include "millrace/memory/run_in_memory.h"
#include "millrace/optimize/candidate_list.h"
#include "millrace/optimize/optimize.h"
#include "millrace/plan/verify.h"
#include "tests/optimize/no_progress.h"
#include "tests/optimize/shipped_planners.h"
#include "tests/reference/random_steering.h"
#include "tests/reference/sanitized.h"

// The whole run, where a user has settled something.
namespace millrace {
namespace {

using testing::kNoProgress;
using testing::ShippedPlanners;
using testing::SteeredProblem;

OptimizeResult OptimizeSteered(const SteeredProblem& problem, OptimizeOptions options) {
  LoadedGraph loaded;
  loaded.graph = problem.graph;
  options.samples = 8;
  options.iterations = 300;
  options.steering = problem.steering;
  return Optimize(loaded, problem.machine, ShippedPlanners(), options, kNoProgress);
}

// That all of it keeps to the steering, but for baselines that say so. Counts these.
int ExpectSteeringKept(const SteeredProblem& problem, const OptimizeResult& result, const std::string& where) {
  EXPECT_EQ(WhyNotValid(problem.graph, problem.machine, result.best.plan), std::nullopt) << where;
  EXPECT_TRUE(Keeps(problem.steering, result.best.plan)) << where << ", best of " << result.best.method;
  for (const Candidate& candidate : result.candidates)
    EXPECT_TRUE(Keeps(problem.steering, candidate.plan)) << where << ", " << candidate.method;
  int breaking = 0;
  for (const BaselineResult& baseline : result.baselines) {
    EXPECT_EQ(baseline.keeps, Keeps(problem.steering, baseline.candidate.plan)) << where << ", " << baseline.name;
    EXPECT_TRUE(baseline.candidate.target_seconds.has_value()) << where << ", " << baseline.name;
    EXPECT_TRUE(baseline.keeps || baseline.name != "heft") << where;
    if (!baseline.keeps) ++breaking;
    if (baseline.keeps && baseline.candidate.target_seconds) {
      EXPECT_LE(JudgedSeconds(result.best, result.robust), JudgedSeconds(baseline.candidate, result.robust))
          << where << ", " << baseline.name;
    }
  }
  return breaking;
}

class SteeredOptimize : public ::testing::TestWithParam<const char*> {};

TEST_P(SteeredOptimize, MeasuresNoPlanThatBreaksAPinButForBaselinesThatSaySo) {
  int breaking = 0;
  for (std::uint64_t seed = 0; seed < testing::Rounds<std::uint64_t>(12); ++seed) {
    Random random(700 + seed);
    const SteeredProblem problem(random);
    OptimizeOptions options;
    options.target = GetParam();
    options.proxy = seed % 2 == 0 ? Proxy::kLinear : Proxy::kContended;
    options.robust = seed % 3 == 2;
    breaking += ExpectSteeringKept(problem, OptimizeSteered(problem, options), "seed " + std::to_string(seed));
  }
  EXPECT_GE(breaking, testing::kSanitized ? 0 : 1);
}

// Where time is limited and the target is the proxy, annealing goes on beside the other stages.
TEST(SteeredRunInTime, MeasuresNoPlanThatBreaksAPin) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    Random random(800 + seed);
    const SteeredProblem problem(random, {.most_ops = 60});
    OptimizeOptions options;
    options.target = "sim:noise,sigma=0";
    options.proxy = Proxy::kLinear;
    options.time_limit = 0.6;
    options.threads = 2;
    ExpectSteeringKept(problem, OptimizeSteered(problem, options), "seed " + std::to_string(seed));
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, SteeredOptimize,
                         ::testing::Values("sim:noise", "sim:noise,sigma=0", "sim:contention", "sim:greedy+latency"));

TEST(SteeredPlanners, KeepToItWhereMemoryIsShortAndPlansAreRepaired) {
  int found = 0;
  for (int seed = 0; seed < testing::Rounds(60); ++seed) {
    Random random(900 + static_cast<std::uint64_t>(seed));
    const SteeredProblem problem(random, {.memory = true});
    const CostedGraph costed = MakeCostedGraph(*problem.model, UnfusedGroups(*problem.model));
    for (const std::string& name : ShippedPlanners().PoolNames()) {
      Budget budget;
      budget.samples = 2;
      budget.iterations = 100;
      const std::optional<BestOf> best =
          RunPlannerInMemory(*ShippedPlanners().Make(name), PlanningProblem(*problem.model, costed), budget, random, 3);
      if (!best) continue;
      for (const RatedAssignment& rated : best->kept) {
        EXPECT_TRUE(Keeps(problem.steering, {costed.groups, rated.assignment.placement, rated.assignment.sequence}))
            << name << ", seed " << seed;
        ++found;
      }
    }
  }
  EXPECT_GT(found, testing::Rounds(500));
}

TEST(SteeredRun, KeepsAWholePlanAndChoosesTheOrderAlone) {
  Random random(31);
  const SteeredProblem problem(random);
  const Plan plan =
      testing::RandomPlan(random, problem.graph, problem.machine, testing::RandomGroups(random, problem.graph));
  LoadedGraph loaded;
  loaded.graph = problem.graph;
  OptimizeOptions options;
  options.target = "sim:contention";
  options.samples = 8;
  options.iterations = 300;
  options.steering.device_of.assign(static_cast<std::size_t>(problem.graph.num_ops()), -1);
  for (std::size_t group = 0; group < plan.groups.size(); ++group) {
    for (const OpId op : plan.groups[group])
      options.steering.device_of[static_cast<std::size_t>(op)] = plan.placement[group];
  }
  options.steering.kept = plan.groups;
  const OptimizeResult result = Optimize(loaded, problem.machine, ShippedPlanners(), options, kNoProgress);
  for (const Candidate& candidate : result.candidates) {
    EXPECT_EQ(std::set(candidate.plan.groups.begin(), candidate.plan.groups.end()),
              std::set(plan.groups.begin(), plan.groups.end()));
    EXPECT_TRUE(Keeps(options.steering, candidate.plan));
  }
}

TEST(SteeredRun, RefusesWhatNoPlanCanKeepTo) {
  LoadedGraph loaded;
  GraphData data;
  data.ops.resize(2);
  data.ops[0].colocate = data.ops[1].colocate = "together";
  loaded.graph = ComputationGraph(std::move(data));
  OptimizeOptions options;
  options.target = "sim:noise";
  options.steering.device_of = {0, 1};
  EXPECT_THROW(Optimize(loaded, *MachinePreset("homogeneous:2"), ShippedPlanners(), options, kNoProgress),
               InvalidInput);
}

}  // namespace
}  // namespace millrace
