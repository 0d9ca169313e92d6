// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>

#include "millrace/errors/errors.h"
#include "millrace/experiments/go_gflownet.h"
#include "millrace/experiments/go_methods.h"
#include "millrace/experiments/go_placement.h"
#include "millrace/experiments/go_row.h"
#include "millrace/heuristics/placed_list.h"
#include "millrace/plan/verify.h"
#include "millrace/policy/message_passing.h"
#include "millrace/policy/sage.h"
#include "millrace/policy/weights.h"
#include "millrace/simulate/contention.h"

namespace millrace {
namespace {

using ::testing::ElementsAre;

// A workload of some hundred ops, so that a method takes milliseconds.
GoWorkload Small() {
  GoWorkload workload = ShortGoWorkloads().front();
  workload.options.hidden = 32;
  workload.options.sequence = 4;
  workload.options.vocabulary = 50;
  workload.options.batch = 4;
  return workload;
}

std::shared_ptr<const OneShotPolicy> UntrainedPolicy() {
  Random random(1);
  return std::make_shared<const OneShotPolicy>(InitialSageWeights(random));
}

GoPolicyFor Always(std::shared_ptr<const OneShotPolicy> policy) {
  return [policy = std::move(policy)](const GoRow&, const GoTasks&, std::uint64_t) { return policy; };
}

std::vector<GoMethod> EveryMethod() {
  GoDraws draws;
  draws.draws = 3;
  draws.measured = 3;
  std::vector<GoMethod> methods = GoBaselines(0.02);
  methods.push_back(GoOneShot("go", Always(UntrainedPolicy()), draws));
  methods.push_back(GoSearched(Always(UntrainedPolicy()), draws, 0.05));
  SamplerSettings settings;
  settings.weights = ::testing::TempDir() + ::testing::UnitTest::GetInstance()->current_test_info()->name();
  Random random(2);
  WriteWeights(settings.weights, InitialMessagePassingWeights(random));
  methods.push_back(GoGFlowNet(settings, 0.05));
  methods.push_back(GoFusedGFlowNet(settings, 0.05));
  std::filesystem::remove(settings.weights);
  for (GoMethod& method : GoTaskMethods(Always(UntrainedPolicy()), draws, 0)) methods.push_back(std::move(method));
  return methods;
}

TEST(GoMethods, MakeValidPlansNoFasterThanTheBound) {
  const std::unique_ptr<GoRow> row = MakeGoRow(Small());
  for (const GoMethod& method : EveryMethod()) {
    const std::optional<GoPlan> plan = method.plan(*row, 3);
    ASSERT_TRUE(plan) << method.name;
    EXPECT_EQ(WhyNotValid(row->graph, row->machine,
                          {plan->costed->groups, plan->assignment.placement, plan->assignment.sequence}),
              std::nullopt)
        << method.name;
    EXPECT_GE(ContendedSeconds(*plan->costed, plan->assignment).value(), row->lower_bound) << method.name;
  }
}

TEST(GoMethods, DecideTheTasksTheyAreNamedAfterAndLeaveTheOthersAlone) {
  const std::unique_ptr<GoRow> row = MakeGoRow(Small());
  std::map<std::string, GoPlan> plans;
  for (const GoMethod& method : EveryMethod()) plans[method.name] = *method.plan(*row, 3);
  for (const char* name : {"pl-only", "pl|sch", "pl+sch", "human", "single"})
    EXPECT_EQ(plans[name].costed->groups, row->fused.groups) << name;
  for (const char* name : {"single", "sch+fu"}) {
    const std::vector<int>& placement = plans[name].assignment.placement;
    EXPECT_EQ(std::count(placement.begin(), placement.end(), placement.front()),
              static_cast<std::ptrdiff_t>(placement.size()))
        << name;
  }
  for (const char* name : {"pl-only", "human", "pl+sch+fu"}) {
    const std::vector<int>& placement = plans[name].assignment.placement;
    EXPECT_NE(std::count(placement.begin(), placement.end(), placement.front()),
              static_cast<std::ptrdiff_t>(placement.size()))
        << name;
  }
}

TEST(GoMethods, MeasuringMoreDrawsNeverMakesTheirBestWorse) {
  const std::unique_ptr<GoRow> row = MakeGoRow(Small());
  const auto policy = UntrainedPolicy();
  double before = std::numeric_limits<double>::infinity();
  for (const int draws : {1, 4, 12}) {
    GoDraws options;
    options.draws = options.measured = draws;
    const std::optional<GoPlan> plan = GoOneShot("go", Always(policy), options).plan(*row, 5);
    const double seconds = ContendedSeconds(*plan->costed, plan->assignment).value();
    EXPECT_LE(seconds, before);
    before = seconds;
  }
}

TEST(GoMethods, SearchThatBeginsWithTheirPlanIsNoWorseThanIt) {
  const std::unique_ptr<GoRow> row = MakeGoRow(Small());
  GoDraws options;
  options.draws = 3;
  const auto seconds = [](const GoPlan& plan) { return ContendedSeconds(*plan.costed, plan.assignment).value(); };
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const double drawn = seconds(*GoOneShot("go", Always(UntrainedPolicy()), options).plan(*row, seed));
    EXPECT_LE(seconds(*GoSearched(Always(UntrainedPolicy()), options, 0.1).plan(*row, seed)), drawn);
  }
}

TEST(GoMethods, TasksThatAreSearchedForKeepTheDefaultsOfTheOthers) {
  const std::unique_ptr<GoRow> row = MakeGoRow(Small());
  GoDraws draws;
  draws.draws = draws.measured = 3;
  for (const GoMethod& method : GoTaskMethods(Always(UntrainedPolicy()), draws, 0.1)) {
    const GoPlan plan = *method.plan(*row, 4);
    EXPECT_EQ(WhyNotValid(row->graph, row->machine,
                          {plan.costed->groups, plan.assignment.placement, plan.assignment.sequence}),
              std::nullopt)
        << method.name;
    if (method.name != "pl-only") continue;
    EXPECT_EQ(plan.assignment, SchedulePlaced(row->fused, plan.assignment.placement, {}).assignment);
    const GoPlan drawn = *GoTaskMethods(Always(UntrainedPolicy()), draws, 0).front().plan(*row, 4);
    EXPECT_LE(ContendedSeconds(*plan.costed, plan.assignment).value(),
              ContendedSeconds(*drawn.costed, drawn.assignment).value());
  }
}

TEST(RunGo, AsksSeededMethodsOnceForEverySeedAndTheOthersOnce) {
  GoDraws draws;
  draws.draws = 2;
  std::vector<GoMethod> methods = {GoBaselines(0.02).front(), GoOneShot("go", Always(UntrainedPolicy()), draws)};
  const GoResult result = RunGo({Small(), Small()}, methods, 3, 1, [](int, int) {});
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

TEST(GoTables, CompareOverTheWorkloadsWhereBothFit) {
  GoResult result;
  result.workloads = {Small(), Small(), Small()};
  result.methods = {"human", "metis", "go"};
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
  EXPECT_THROW(GoTables(result, {"magic"}), InvalidInput);
}

}  // namespace
}  // namespace millrace
