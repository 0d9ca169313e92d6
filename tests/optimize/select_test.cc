// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/select.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/machine/preset.h"
#include "millrace/optimize/pool.h"
#include "millrace/plan/chain_graph.h"
#include "millrace/plan/distance.h"
#include "millrace/plan/hash.h"
#include "millrace/plan/verify.h"
#include "millrace/simulate/peak_memory.h"
#include "millrace/workloads/random_graph.h"
#include "tests/optimize/no_progress.h"
#include "tests/optimize/shipped_planners.h"
#include "tests/reference/random_problem.h"
#include "tests/reference/sanitized.h"
#include "tests/reference/slow_simulator.h"

namespace millrace {
namespace {

using testing::ShippedPlanners;

Pool PoolFor(const ComputationGraph& graph, const Machine& machine, std::int64_t samples) {
  const auto model = MakeAnalyticCostModel(graph, machine);
  PoolOptions options;
  options.samples = samples;
  options.iterations = 400;
  return MakePool(*model, ShippedPlanners(), FusionOptions(*model), options, {});
}

TEST(Pool, HoldsOnlyValidPlansPricedAsTheSlowSimulatorPricesThem) {
  Random random(1);
  for (int round = 0; round < testing::Rounds(60); ++round) {
    testing::RandomProblemOptions problem;
    problem.memory = round % 3 == 0;
    const ComputationGraph graph = testing::RandomGraph(random, problem);
    const Machine machine = testing::RandomMachine(random, problem);
    const Pool pool = PoolFor(graph, machine, 20);
    for (const PoolEntry& entry : pool.entries) {
      const Candidate candidate = MakeCandidate(pool, entry);
      ASSERT_EQ(WhyNotValid(graph, machine, candidate.plan), std::nullopt) << entry.method;
      const testing::SlowTimeline slow = testing::SlowSimulate(graph, machine, candidate.plan);
      ASSERT_NEAR(candidate.proxy_seconds, slow.makespan, 1e-9 * slow.makespan) << entry.method;
      ASSERT_TRUE(slow.feasible) << entry.method;
    }
  }
}

TEST(Pool, IsTheSameForTheSameSeed) {
  Random random(2);
  const ComputationGraph graph = testing::RandomGraph(random);
  const Machine machine = testing::RandomMachine(random);
  const Pool a = PoolFor(graph, machine, 50);
  const Pool b = PoolFor(graph, machine, 50);
  ASSERT_EQ(a.entries.size(), b.entries.size());
  for (std::size_t i = 0; i < a.entries.size(); ++i) EXPECT_EQ(a.entries[i].assignment, b.entries[i].assignment);
}

// How often the pool is asked whether it has enough while these methods plan, the answer being `enough`, and what it
// then holds plans of.
std::pair<int, std::set<std::string>> Asked(const std::vector<std::string>& methods, bool enough) {
  RandomGraphOptions of;
  of.ops = 40;
  const ComputationGraph graph = MakeRandomGraph("layered", of);
  const auto model = MakeAnalyticCostModel(graph, *MachinePreset("homogeneous:4"));
  PoolOptions options;
  options.methods = methods;
  options.samples = 1;
  options.iterations = 20000;
  PoolWatch watch;
  int asked = 0;
  watch.enough = [&](const Pool&) {
    ++asked;
    return enough;
  };
  const Pool pool = MakePool(*model, ShippedPlanners(), {{"none", SingleOpGroups(graph)}}, options, watch);
  std::set<std::string> planned;
  for (const PoolEntry& entry : pool.entries) planned.insert(entry.method);
  return {asked, planned};
}

TEST(Pool, AsksWhetherItHasEnoughAfterEveryMethodThatFoundAFasterPlan) {
  EXPECT_EQ(Asked({"heft"}, false).first, 1);
  EXPECT_EQ(Asked({"heft", "anneal"}, false).first, 2);
  EXPECT_EQ(Asked({"heft", "random"}, false).first, 1) << "the random plan is slower";
  EXPECT_EQ(Asked({"heft", "sequential"}, false).second, (std::set<std::string>{"heft", "sequential"}));
  EXPECT_EQ(Asked({"heft", "random"}, true).second, std::set<std::string>{"heft"});
}

TEST(SelectDiverse, TakesTheBestByProxyFirstAndNoPlanTwice) {
  Random random(3);
  for (int round = 0; round < testing::Rounds(40); ++round) {
    const ComputationGraph graph = testing::RandomGraph(random);
    const Machine machine = testing::RandomMachine(random);
    const Pool pool = PoolFor(graph, machine, 100);
    ASSERT_FALSE(pool.entries.empty());
    const std::vector<Candidate> selected = SelectDiverse(pool, machine, {});
    ASSERT_FALSE(selected.empty());
    EXPECT_LE(selected.size(), 16U);
    double best = pool.entries.front().proxy_seconds;
    for (const PoolEntry& entry : pool.entries) best = std::min(best, entry.proxy_seconds);
    EXPECT_EQ(selected.front().proxy_seconds, best);
    std::set<std::string> hashes;
    for (std::size_t i = 0; i < selected.size(); ++i) {
      EXPECT_TRUE(hashes.insert(PlanHash(selected[i].plan)).second);
      EXPECT_GE(selected[i].proxy_seconds, i == 0 ? 0.0 : selected[i - 1].proxy_seconds);
    }
  }
}

// Two ops in a row, on one core or on both: the chains are equal, the plans are not.
TEST(SelectDiverse, TellsAGangFromACoreThoughTheirChainsAreEqual) {
  GraphData data;
  data.ops.resize(2);
  data.tensors.push_back({"t", 0, {1}, 0, false});
  for (Op& op : data.ops) op.seconds.by_kind = {{"both", 0.9}, {"core", 1.0}};
  const ComputationGraph graph(std::move(data));
  Machine machine;
  machine.devices = {{"a", "core", {0}, 1, 1, std::nullopt, 0},
                     {"b", "core", {1}, 1, 1, std::nullopt, 0},
                     {"ab", "both", {0, 1}, 1, 1, std::nullopt, 0}};
  const auto model = MakeAnalyticCostModel(graph, machine);
  Pool pool;
  pool.fusions.push_back({"none", MakeCostedGraph(*model, SingleOpGroups(graph))});
  pool.entries = {
      {0, "one", {{0, 0}, {0, 1}}, 2.0}, {0, "twin", {{1, 1}, {0, 1}}, 2.0}, {0, "gang", {{2, 2}, {0, 1}}, 1.8}};
  const std::vector<Candidate> selected = SelectDiverse(pool, machine, {});
  ASSERT_EQ(selected.size(), 2U) << "the twin on the other core is the same plan";
  EXPECT_EQ(selected[0].method, "gang");
  EXPECT_EQ(selected[1].method, "one");
}

}  // namespace
}  // namespace millrace
