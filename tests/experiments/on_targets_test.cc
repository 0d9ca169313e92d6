// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/on_targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/experiments/target_methods.h"
#include "millrace/experiments/target_tables.h"
#include "millrace/experiments/test_graphs.h"
#include "millrace/heuristics/chained_source.h"

namespace millrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TargetMethod Named(const std::string& name, std::shared_ptr<const CandidateSource> source, std::size_t keep = 1,
                   Knowledge knowledge = Knowledge::kProxy) {
  TargetMethod made;
  made.method.name = name;
  made.method.source = std::move(source);
  made.method.keep = keep;
  made.method.budget.samples = static_cast<std::int64_t>(keep);
  made.knowledge = knowledge;
  return made;
}

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
      Named("sequential", MakeHeuristic("sequential")),
      Named("heft", MakeHeftReference()),
      Named("heft-informed", MakeHeftReference(), 1, Knowledge::kTargetModel),
      Named("randomised-list", MakeHeuristic("randomised-list"), 20),
      Named("randomised-list-doubt", MakeHeuristic("randomised-list"), 20, Knowledge::kDoubt),
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

TEST(OnTargets, KnowingTheTargetHelpsWhereTransfersCostAndDoubtHandsOnNoMorePlans) {
  const OnTargetsResult result = SmallRun(2, 0);
  double informed = 0, plain = 0;
  for (std::size_t graph = 0; graph < result.graphs.size(); ++graph) {
    for (int seed = 0; seed < result.seeds; ++seed) {
      plain += result.At(graph, seed, 1).speedup[2];
      informed += result.At(graph, seed, 2).speedup[2];
      EXPECT_NEAR(result.At(graph, seed, 1).speedup[0], result.At(graph, seed, 2).speedup[0], 1e-9);
      EXPECT_LE(result.At(graph, seed, 3).plans, 20);
      EXPECT_LE(result.At(graph, seed, 4).plans, 20);
      EXPECT_GT(result.At(graph, seed, 4).plans, 15);
      EXPECT_GT(result.At(graph, seed, 3).diversity.edit, 0);
      EXPECT_LE(result.At(graph, seed, 3).diversity.edit, 1);
      EXPECT_TRUE(std::isnan(result.At(graph, seed, 1).diversity.edit));
    }
  }
  EXPECT_GT(informed, 1.2 * plain);
}

TEST(OnTargets, TheOptimiserRunsNoMorePlansThanOthersAndIsNoSlowerThanHeft) {
  TargetMethod optimizer = Named("optimize", nullptr, 12, Knowledge::kMeasurements);
  optimizer.optimize.methods = {"heft", "randomised-list"};
  optimizer.optimize.samples = 60;
  OnTargetsOptions options;
  options.seeds = 1;
  const OnTargetsResult result = RunOnTargets(FewGraphs(), {Named("heft", MakeHeuristic("heft")), optimizer},
                                              UsualTargets(false), options, [](int, int) {});
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
  class Nothing final : public CandidateSource {
   public:
    std::string name() const override { return "nothing"; }
    void Propose(const CostedGraph&, const SourceBudget&, Random&,
                 const std::function<void(Assignment)>&) const override {}
  };
  EXPECT_THROW(
      RunOnTargets(FewGraphs(), {Named("nothing", std::make_shared<Nothing>())}, {{"proxy", ""}}, {}, [](int, int) {}),
      WorkFailed);
}

// Two graphs, two seeds, two targets; the contender is ahead on the first target and behind on the second.
OnTargetsResult MadeUp(double behind) {
  OnTargetsResult result;
  result.graphs = {"a", "b"};
  result.families = {"x", "y"};
  result.methods = {Named("heft", nullptr), Named("pipeline", nullptr)};
  result.methods[1].contender = true;
  result.targets = {{"proxy", ""}, {"noise", "noise"}};
  result.seeds = 2;
  for (const double graph : {1.0, 2.0}) {
    for (const double seed : {-0.1, 0.1}) {
      Judgement heft, pipeline;
      heft.speedup = {graph + seed, graph + seed};
      pipeline.speedup = {graph + seed + 0.5, graph + seed - behind};
      result.judgements.push_back(heft);
      result.judgements.push_back(pipeline);
    }
  }
  return result;
}

TEST(TargetTables, AverageOverGraphsFirstAndSpreadOverSeeds) {
  const std::vector<Table> tables = TargetTables(MadeUp(0.05), "test: ");
  EXPECT_EQ(tables[0].name, "test: speedups");
  const Cell& heft = tables[0].rows[0][2];
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
      MakeTargetMethods({name}, {}, {});
      FAIL() << name;
    } catch (const InvalidInput& error) {
      EXPECT_THAT(error.what(), HasSubstr(name));
    }
  }
  const auto methods = MakeTargetMethods({"heft", "etf-informed", "anneal", "randomised-list-doubt"}, {}, {});
  ASSERT_EQ(methods.size(), 4u);
  EXPECT_EQ(methods[1].knowledge, Knowledge::kTargetModel);
  EXPECT_EQ(methods[3].knowledge, Knowledge::kDoubt);
}

TEST(Diversity, OfAPlanAndItselfIsNoneAndOfUnlikeOnesIsWhatTheDistancesSay) {
  const ComputationGraph graph = UnseenRandomGraphs(1)[0].graph;
  Machine machine;
  for (int d = 0; d < 2; ++d) machine.devices.push_back({"d" + std::to_string(d), "device", {d}, 1e12, 1e11, {}, 0});
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
  Random random(1);
  const RatedAssignment plan = RunSource(*MakeHeuristic("heft"), costed, {}, random, 1).kept.front();
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
