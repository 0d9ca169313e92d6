// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/targets/on_targets.h"
#include "millrace/heuristics/heuristics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/experiments/targets/target_methods.h"
#include "millrace/experiments/targets/target_tables.h"
#include "millrace/experiments/targets/test_graphs.h"
#include "millrace/optimize/planners.h"

namespace millrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TargetMethod TargetMethodNamed(const std::string& name, std::shared_ptr<const Planner> planner, std::size_t keep = 1,
                               Knowledge knowledge = Knowledge::kProxy) {
  TargetMethod made;
  made.method.name = name;
  made.method.planner = std::move(planner);
  made.method.keep = keep;
  made.method.budget.samples = static_cast<std::int64_t>(keep);
  made.knowledge = knowledge;
  return made;
}

TargetPlanners UsualPlanners() { return {std::make_shared<const PlannerRegistry>(MakePlannerRegistry()), nullptr}; }

std::vector<GraphUnderTest> FewGraphs() {
  std::vector<GraphUnderTest> graphs = UnseenRandomGraphs(1);
  graphs.resize(3);
  return graphs;
}

OnTargetsResult SmallRun(int threads, double link_ccr) {
  OnTargetsOptions options;
  options.seeds = 2;
  options.threads = threads;
  options.link_ccr = link_ccr;
  std::vector<TargetMethod> methods = {
      TargetMethodNamed("sequential", MakeHeuristic("sequential")),
      TargetMethodNamed("heft", MakeHeftReference()),
      TargetMethodNamed("heft-informed", MakeHeftReference(), 1, Knowledge::kTargetModel),
      TargetMethodNamed("randomised-list", MakeHeuristic("randomised-list"), 20),
  };
  methods.back().contender = true;
  return RunOnTargets(FewGraphs(), methods, UsualTargets(link_ccr > 0), options, [](int, int) {});
}

TEST(OnTargets, IsTheSameAtAnyNumberOfThreads) {
  const OnTargetsResult one = SmallRun(1, 0), three = SmallRun(3, 0);
  for (std::size_t graph = 0; graph < one.graphs.size(); ++graph) {
    for (int seed = 0; seed < one.seeds; ++seed) {
      for (std::size_t m = 0; m < one.methods.size(); ++m)
        EXPECT_EQ(one.At(graph, seed, m).speedup, three.At(graph, seed, m).speedup);
    }
  }
}

TEST(OnTargets, EverythingOnOneDeviceIsNoFasterAnywhereAndMoreDevicesAreByTheProxy) {
  for (const double link_ccr : {0.0, 1.0}) {
    const OnTargetsResult result = SmallRun(2, link_ccr);
    for (std::size_t graph = 0; graph < result.graphs.size(); ++graph) {
      for (const double speedup : result.At(graph, 0, 0).speedup) EXPECT_NEAR(speedup, 1, 1e-9);
      EXPECT_GT(result.At(graph, 0, 1).speedup[0], 1.2);
      EXPECT_LE(result.At(graph, 0, 1).speedup[0], 4 + 1e-9);
      EXPECT_EQ(result.At(graph, 0, 1).plans, 2 - 1);
    }
  }
}

TEST(OnTargets, KnowingTheTargetHelpsWhereTransfersCost) {
  const OnTargetsResult result = SmallRun(2, 0);
  double informed = 0, plain = 0;
  for (std::size_t graph = 0; graph < result.graphs.size(); ++graph) {
    for (int seed = 0; seed < result.seeds; ++seed) {
      plain += result.At(graph, seed, 1).speedup[2];
      informed += result.At(graph, seed, 2).speedup[2];
      EXPECT_NEAR(result.At(graph, seed, 1).speedup[0], result.At(graph, seed, 2).speedup[0], 1e-9);
      EXPECT_LE(result.At(graph, seed, 3).plans, 20);
      EXPECT_GT(result.At(graph, seed, 3).plans, 15);
      EXPECT_GT(result.At(graph, seed, 3).diversity.edit, 0);
      EXPECT_LE(result.At(graph, seed, 3).diversity.edit, 1);
      EXPECT_TRUE(std::isnan(result.At(graph, seed, 1).diversity.edit));
    }
  }
  EXPECT_GT(informed, 1.2 * plain);
}

TEST(OnTargets, TheOptimiserRunsNoMorePlansThanOthersAndIsNoSlowerThanHeft) {
  TargetMethod optimizer = TargetMethodNamed("optimize", nullptr, 12, Knowledge::kMeasurements);
  optimizer.planners = std::make_shared<const PlannerRegistry>(MakePlannerRegistry());
  optimizer.optimize.methods = {"heft", "randomised-list"};
  optimizer.optimize.samples = 60;
  OnTargetsOptions options;
  options.seeds = 1;
  const OnTargetsResult result =
      RunOnTargets(FewGraphs(), {TargetMethodNamed("heft", MakeHeuristic("heft")), optimizer}, UsualTargets(false),
                   options, [](int, int) {});
  for (std::size_t graph = 0; graph < result.graphs.size(); ++graph) {
    const Judgement& judgement = result.At(graph, 0, 1);
    EXPECT_LE(judgement.plans, 12);
    EXPECT_GT(judgement.plans, 4);
    for (std::size_t t = 0; t < result.targets.size(); ++t)
      EXPECT_GE(judgement.speedup[t], result.At(graph, 0, 0).speedup[t] - 1e-9);
    EXPECT_GT(judgement.proxy_mean, 1);
  }
}

TEST(OnTargets, RefusesAMethodThatFindsNothing) {
  class Nothing final : public Planner {
   public:
    Nothing() : Planner({.name = "nothing"}) {}
    void Propose(const PlanningProblem&, const Budget&, Random&, const Offer&) const override {}
  };
  EXPECT_THROW(RunOnTargets(FewGraphs(), {TargetMethodNamed("nothing", std::make_shared<Nothing>())}, {{"proxy", ""}},
                            {}, [](int, int) {}),
               WorkFailed);
}

// Two graphs, two seeds, two targets; the contender is ahead on the first target and behind on the second.
OnTargetsResult MadeUp(double behind) {
  OnTargetsResult result;
  result.graphs = {"a", "b"};
  result.families = {"x", "y"};
  result.methods = {TargetMethodNamed("heft", nullptr), TargetMethodNamed("optimize", nullptr)};
  result.methods[1].contender = true;
  result.targets = {{"proxy", ""}, {"noise", "noise"}};
  result.seeds = 2;
  for (const double graph : {1.0, 2.0}) {
    for (const double seed : {-0.1, 0.1}) {
      Judgement heft, optimize;
      heft.speedup = {graph + seed, graph + seed};
      optimize.speedup = {graph + seed + 0.5, graph + seed - behind};
      result.judgements.push_back(heft);
      result.judgements.push_back(optimize);
    }
  }
  return result;
}

TEST(TargetTables, AverageOverGraphsFirstAndSpreadOverSeeds) {
  const std::vector<Table> tables = TargetTables(MadeUp(0.05), "test: ");
  EXPECT_EQ(tables[0].name, "test: speedups");
  const Cell& heft = tables[0].rows[0][3];
  EXPECT_NEAR(heft.numbers[0], 1.5, 1e-12);
  EXPECT_NEAR(heft.numbers[1], std::sqrt(0.02), 1e-12);
  EXPECT_EQ(tables[1].name, "test: worst");
  EXPECT_NEAR(tables[1].rows[1][2].numbers[0], 0.85 / 0.9, 1e-12);
}

TEST(TargetTables, SayWhetherAContenderIsFirstTiedOrBehind) {
  const auto verdicts = [](double behind) {
    std::vector<std::string> words;
    for (const Table& table : TargetTables(MadeUp(behind), "")) {
      if (table.name != "verdicts") continue;
      for (const std::vector<Cell>& row : table.rows) words.push_back(row.back().text);
    }
    return words;
  };
  EXPECT_THAT(verdicts(0.05), ElementsAre("first", "tied"));
  EXPECT_THAT(verdicts(0.5), ElementsAre("first", "behind"));
  EXPECT_THAT(verdicts(-0.5), ElementsAre("first", "first"));
}

TEST(TargetMethods, RefuseWhatThereIsNot) {
  for (const char* name : {"magic", "ppo"}) {
    try {
      MakeTargetMethods({name}, UsualPlanners(), {});
      FAIL() << name;
    } catch (const InvalidInput& error) {
      EXPECT_THAT(error.what(), HasSubstr(name));
    }
  }
}

TEST(TargetMethods, ChangeNothingElseOfTheOptimiserThanTheirNameSays) {
  const auto methods = MakeTargetMethods({"optimize", "optimize-untrained", "optimize-by-proxy"}, UsualPlanners(), {});
  ASSERT_EQ(methods.size(), 3u);
  EXPECT_TRUE(methods[0].optimize.methods.empty());
  EXPECT_TRUE(methods[0].optimize.without.empty());
  EXPECT_FALSE(methods[1].optimize.methods.empty());
  EXPECT_TRUE(methods[1].optimize.without.empty());
  EXPECT_TRUE(methods[2].optimize.methods.empty());
  EXPECT_FALSE(methods[2].optimize.without.empty());
}

TEST(TargetMethods, GiveAllThatSearchTheSameSeconds) {
  const std::vector<std::string> names = {"heft", "etf-informed", "anneal", "gflownet-untrained+search",
                                          "optimize-untrained"};
  const auto methods = MakeTargetMethods(names, UsualPlanners(), {});
  ASSERT_EQ(methods.size(), 5u);
  EXPECT_EQ(methods[1].knowledge, Knowledge::kTargetModel);
  for (std::size_t m = 2; m < methods.size(); ++m)
    EXPECT_EQ(methods[m].method.budget.seconds, TargetMethodOptions().search_seconds) << names[m];
  const OptimizeOptions& optimize = methods[4].optimize;
  EXPECT_EQ(optimize.time_limit, TargetMethodOptions().search_seconds);
  EXPECT_EQ(optimize.methods, UntrainedPoolNames(*UsualPlanners().usual));
  for (const std::string& method : optimize.methods) {
    const PlannerTraits& traits = methods[4].planners->Traits(method);
    EXPECT_TRUE(!traits.learned || method.find("-untrained") != std::string::npos) << method;
  }
}

TEST(Diversity, OfAPlanAndItselfIsNoneAndOfUnlikeOnesIsWhatTheDistancesSay) {
  const ComputationGraph graph = UnseenRandomGraphs(1)[0].graph;
  Machine machine;
  for (int d = 0; d < 2; ++d) machine.devices.push_back({"d" + std::to_string(d), "device", {d}, 1e12, 1e11, {}, 0});
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
  Random random(1);
  const RatedAssignment plan = RunPlanner(*MakeHeuristic("heft"), costed, {}, random, 1).kept.front();
  const Diversity none = DiversityOf(costed, {plan, plan, plan});
  EXPECT_EQ(none.edit, 0);
  EXPECT_EQ(none.start_and_placement, 0);
  RatedAssignment renamed = plan;
  for (int& device : renamed.assignment.placement) device = 1 - device;
  const Diversity swapped = DiversityOf(costed, {plan, renamed});
  EXPECT_EQ(swapped.edit, 0);
  EXPECT_NEAR(swapped.start, 0, 1e-9);
  EXPECT_NEAR(swapped.start_and_placement, std::sqrt(50), 1e-9);
  EXPECT_NEAR(DiversityOf(costed, {plan, plan, renamed}).start_and_placement, 2 * std::sqrt(50) / 3, 1e-9);
}

}  // namespace
}  // namespace millrace
