// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <thread>

#include "millrace/errors/errors.h"
#include "millrace/experiments/go/fused_samples.h"
#include "millrace/experiments/go/go_methods.h"
#include "millrace/experiments/go/go_placement.h"
#include "millrace/experiments/go/go_row.h"
#include "millrace/experiments/go/go_tasks.h"
#include "millrace/gflownet/planners.h"
#include "millrace/go/planner.h"
#include "millrace/heuristics/placed_list.h"
#include "millrace/heuristics/placements.h"
#include "millrace/optimize/planners.h"
#include "millrace/plan/verify.h"
#include "millrace/simulate/contention.h"
#include "tests/reference/sanitized.h"

namespace millrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A workload of some hundred ops, so that a method takes milliseconds.
GoWorkload Small() {
  GoWorkload workload = ShortGoWorkloads().front();
  workload.options.hidden = 32;
  workload.options.sequence = testing::kSanitized ? 2 : 4;
  workload.options.vocabulary = 50;
  workload.options.batch = 4;
  return workload;
}

PlannerRegistry UsualGoPlanners() { return MakePlannerRegistry(); }

GoPlanned Drawn(const PlannerRegistry& planners, const std::string& name, int samples) {
  GoPlanned planned{.name = name, .planner = PlannerNamed(planners, name)};
  planned.budget.samples = samples;
  return planned;
}

GoPolicyFor Always(std::shared_ptr<const GoPolicy> policy) {
  return [policy = std::move(policy)](const GoRow&, const GoTasks&, std::uint64_t) { return policy; };
}

std::vector<GoMethod> TaskMethods(double search) {
  return GoTaskMethods(Always(UntrainedGoPolicy()), {.plans = 3, .search = search, .suffix = ""});
}

std::vector<GoMethod> EveryMethod(const PlannerRegistry& planners) {
  std::vector<GoMethod> methods = GoBaselines(planners, 0.05);
  GoPlanned drawn = Drawn(planners, "go-untrained", 3);
  drawn.measured = 3;
  methods.push_back(MakeGoMethod(drawn));
  drawn.fusion = GoFusion::kOpen;
  drawn.name = "go-fusing";
  methods.push_back(MakeGoMethod(drawn));
  GoPlanned searched = Drawn(planners, "go-untrained", 1000000);
  searched.name = "go+search";
  searched.fusion = GoFusion::kOpen;
  searched.budget.seconds = 0.05;
  methods.push_back(MakeGoMethod(searched));
  methods.push_back(MakeGoMethod(Drawn(planners, "gflownet-untrained", 3)));
  methods.push_back(FusedSamples("gflownet-fused", UntrainedGFlowNetPolicy(), 0.05, 3));
  for (GoMethod& method : TaskMethods(0)) methods.push_back(std::move(method));
  return methods;
}

double Contended(const GoPlan& plan) { return ContendedSeconds(*plan.costed, plan.assignment).value(); }

GoPlan PlanBy(const GoMethod& method, const GoRow& row, std::uint64_t seed) {
  return method.plan(row, seed, method.seconds).value();
}

TEST(GoMethods, MakeValidPlansNoFasterThanTheBound) {
  const std::unique_ptr<GoRow> row = MakeGoRow(Small());
  const PlannerRegistry planners = UsualGoPlanners();
  for (const GoMethod& method : EveryMethod(planners)) {
    const std::optional<GoPlan> plan = method.plan(*row, 3, method.seconds);
    ASSERT_TRUE(plan) << method.name;
    EXPECT_EQ(WhyNotValid(row->graph, row->machine,
                          {plan->costed->groups, plan->assignment.placement, plan->assignment.sequence}),
              std::nullopt)
        << method.name;
    EXPECT_GE(Contended(*plan), row->lower_bound) << method.name;
  }
}

TEST(GoMethods, DecideTheTasksTheyAreNamedAfterAndLeaveTheOthersAlone) {
  const std::unique_ptr<GoRow> row = MakeGoRow(Small());
  const PlannerRegistry planners = UsualGoPlanners();
  std::map<std::string, GoPlan> plans;
  for (const GoMethod& method : EveryMethod(planners)) plans[method.name] = PlanBy(method, *row, 3);
  for (const char* name : {"pl-only", "pl|sch", "pl+sch", "expert", "single", "go-untrained"})
    EXPECT_EQ(plans[name].costed->groups, row->fused.groups) << name;
  const std::vector<int>& single = plans["single"].assignment.placement;
  EXPECT_EQ(std::count(single.begin(), single.end(), single.front()), static_cast<std::ptrdiff_t>(single.size()));
}

TEST(GoMethods, DecideOrderAndFusionByThemselvesAtTheHumanPlacement) {
  const std::unique_ptr<GoRow> row = MakeGoRow(Small());
  const std::vector<int> human = PlaceByLayers(row->fused);
  ASSERT_NE(std::count(human.begin(), human.end(), human.front()), static_cast<std::ptrdiff_t>(human.size()));
  std::map<OpId, int> device_of;
  for (std::size_t group = 0; group < human.size(); ++group) {
    for (const OpId op : row->fused.groups[group]) device_of[op] = human[group];
  }
  for (const GoMethod& method : TaskMethods(0)) {
    if (method.name != "sch+fu") continue;
    const GoPlan plan = PlanBy(method, *row, 3);
    int elsewhere = 0;  // an op that was fused with others may have followed them
    for (std::size_t group = 0; group < plan.costed->groups.size(); ++group) {
      for (const OpId op : plan.costed->groups[group])
        elsewhere += plan.assignment.placement[group] == device_of[op] ? 0 : 1;
    }
    EXPECT_LT(elsewhere, row->graph.num_ops() / 20);
  }
}

TEST(GoMethods, MeasuringMorePlansNeverMakesTheirBestWorse) {
  const std::unique_ptr<GoRow> row = MakeGoRow(Small());
  const PlannerRegistry planners = UsualGoPlanners();
  GoPlanned planned = Drawn(planners, "go-untrained", 12);
  double before = std::numeric_limits<double>::infinity();
  for (const std::size_t measured : {1u, 4u, 12u}) {
    planned.measured = measured;
    const double seconds = Contended(PlanBy(MakeGoMethod(planned), *row, 5));
    EXPECT_LE(seconds, before);
    before = seconds;
  }
}

TEST(GoMethods, TasksThatAreSearchedForKeepTheDefaultsOfTheOthers) {
  const std::unique_ptr<GoRow> row = MakeGoRow(Small());
  for (const GoMethod& method : TaskMethods(0.1)) {
    const GoPlan plan = PlanBy(method, *row, 4);
    EXPECT_EQ(WhyNotValid(row->graph, row->machine,
                          {plan.costed->groups, plan.assignment.placement, plan.assignment.sequence}),
              std::nullopt)
        << method.name;
    if (method.name != "pl-only") continue;
    EXPECT_EQ(plan.assignment, SchedulePlaced(row->fused, plan.assignment.placement, {}).assignment);
    EXPECT_LE(Contended(plan), Contended(PlanBy(TaskMethods(0).front(), *row, 4)));
  }
}

TEST(RunGo, AsksSeededMethodsOnceForEverySeedAndTheOthersOnce) {
  GoRecord record;
  const PlannerRegistry planners = UsualGoPlanners();
  const std::vector<GoMethod> methods = {GoBaselines(planners, 0.02).front(),
                                         MakeGoMethod(Drawn(planners, "go-untrained", 2))};
  GoWorkload again = Small();
  again.name = "again";
  const GoResult result = RunGo({Small(), again}, methods, 3, 1, record, [](int, int) {});
  ASSERT_EQ(result.outcomes.size(), 2u);
  for (const auto& row : result.outcomes) {
    EXPECT_EQ(row[0].size(), 1u);
    EXPECT_EQ(row[1].size(), 3u);
    for (const auto& outcomes : row) {
      for (const GoOutcome& outcome : outcomes) EXPECT_TRUE(outcome.fits);
    }
  }
  EXPECT_EQ(result.outcomes[0][1][2].seconds, result.outcomes[1][1][2].seconds);
}

TEST(RunGo, GivesAMethodTheSecondsThatAnotherTook) {
  GoRecord record;
  GoMethod first = GoBaselines(UsualGoPlanners(), 0.02).front();
  first.seeded = true;
  GoMethod second = first;
  second.name = "second";
  second.as_long_as = first.name;
  std::vector<double> given;
  second.plan = [&](const GoRow& row, std::uint64_t seed, std::optional<double> seconds) {
    given.push_back(seconds.value());
    return first.plan(row, seed, seconds);
  };
  const GoResult result = RunGo({Small()}, {first, second}, 2, 1, record, [](int, int) {});
  EXPECT_THAT(given, ElementsAre(result.outcomes[0][0][0].wall_seconds, result.outcomes[0][0][1].wall_seconds));
  second.as_long_as = "magic";
  record = {};
  EXPECT_THROW(RunGo({Small()}, {first, second}, 1, 1, record, [](int, int) {}), InvalidInput);
}

TEST(RunGo, DoesNotCountWhatIsPrepared) {
  GoRecord record;
  GoMethod method = GoBaselines(UsualGoPlanners(), 0.02).front();
  int prepared = 0;
  method.prepare = [&prepared](const GoRow&, std::uint64_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    ++prepared;
  };
  const GoResult result = RunGo({Small()}, {method}, 1, 1, record, [](int, int) {});
  EXPECT_EQ(prepared, 1);
  EXPECT_LT(result.outcomes[0][0][0].wall_seconds, 0.5);
}

TEST(GoSeed, OfOneRunIsNoSeedOfTheNext) {
  for (const std::uint64_t seed : {0u, 1u, 2u}) EXPECT_NE(GoSeed(seed, 1), GoSeed(seed + 1, 0));
}

TEST(GoTables, CompareOverTheWorkloadsWhereBothFit) {
  GoResult result;
  result.workloads = {Small(), Small(), Small()};
  result.methods = {"human", "metis", "go"};
  result.budgets = {"-", "-", "16 plans"};
  result.lower_bounds = {0.1, 0.1, 0.1};
  const GoOutcome oom{true, false, 0, 1}, none{};
  const auto takes = [](double seconds) { return GoOutcome{true, true, seconds, 1}; };
  result.outcomes = {{{takes(2)}, {oom}, {takes(1), oom}},
                     {{takes(8)}, {takes(3)}, {takes(1), takes(3)}},
                     {{none}, {oom}, {takes(1), takes(1)}}};
  const std::vector<Table> tables = GoTables(result, {"go"});
  const Table& seconds = tables[0];
  EXPECT_EQ(seconds.rows[0][2].text, "OOM");
  EXPECT_EQ(seconds.rows[2][1].text, "no plan");
  EXPECT_THAT(seconds.rows[1][3].numbers, ElementsAre(2));
  const Table& against = tables[1];
  ASSERT_EQ(against.rows.size(), 2u);
  EXPECT_NEAR(against.rows[0][1].numbers[0], 100 * (1 - std::sqrt(0.5 * 0.25)), 1e-9);  // 1/2 and 2/8
  EXPECT_THAT(against.rows[0][2].numbers, ElementsAre(2));
  EXPECT_THAT(against.rows[0][4].numbers, ElementsAre(1));
  EXPECT_NEAR(against.rows[1][1].numbers[0], 100 * (1 - 2.0 / 3), 1e-9);
  EXPECT_THAT(against.rows[1][4].numbers, ElementsAre(2));
  EXPECT_EQ(against.rows[0][5].text, "-");
  EXPECT_THAT(against.caption, HasSubstr("16 plans"));
  EXPECT_THROW(GoTables(result, {"magic"}), InvalidInput);
}

}  // namespace
}  // namespace millrace
