// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/search_on.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "millrace/cost/analytic_cost.h"
#include "millrace/machine/preset.h"
#include "millrace/plan/verify.h"
#include "millrace/simulate/timeline.h"
#include "millrace/workloads/random_graph.h"
#include "tests/optimize/no_progress.h"
#include "tests/optimize/shipped_planners.h"
#include "tests/workloads/unrolled_training.h"

namespace millrace {
namespace {

using testing::ShippedPlanners;

struct Searched {
  ComputationGraph graph;
  Machine machine = *MachinePreset("homogeneous:4,latency=0,bandwidth=1e9");
  std::unique_ptr<CostModel> model;
  Pool pool;
  std::optional<PoolEntry> found;

  Searched(std::uint64_t seed, Proxy proxy, int threads, int ops = 60, const char* method = "random",
           const Planner* first = nullptr)
      : graph(MakeRandomGraph("layered", {.ops = ops, .ccr = 3, .seed = seed})) {
    model = MakeAnalyticCostModel(graph, machine, proxy);
    PoolOptions options;
    options.methods = {method};
    options.samples = 1;
    pool = MakePool(*model, ShippedPlanners(), FusionOptions(*model), options, {});
    found = SearchOnFrom(*model, pool, pool.entries.front(),
                         {.seconds = 0.1, .threads = threads, .first = first, .random = Random(seed)});
  }
};

TEST(SearchOn, FindsValidFasterPlansThanARandomOneUnderEitherProxyOnAnyNumberOfThreads) {
  for (const Proxy proxy : {Proxy::kLinear, Proxy::kContended}) {
    for (const int threads : {1, 2, 3}) {
      const Searched on(static_cast<std::uint64_t>(threads), proxy, threads);
      ASSERT_TRUE(on.found);
      EXPECT_LT(on.found->proxy_seconds, on.pool.entries.front().proxy_seconds);
      EXPECT_EQ(WhyNotValid(on.graph, on.machine, MakeCandidate(on.pool, *on.found).plan), std::nullopt);
      const CostedGraph& costed = on.pool.fusions[static_cast<std::size_t>(on.found->fusion)].costed;
      EXPECT_DOUBLE_EQ(Simulator(costed).Makespan(on.found->assignment), on.found->proxy_seconds);
      EXPECT_THAT(on.found->method, ::testing::StartsWith("random+"));
    }
  }
}

TEST(SearchOn, OnlyAnnealsUnderTheLinearProxyWhereNoOtherPlannerIsNamed) {
  EXPECT_EQ(Searched(5, Proxy::kLinear, 2).found->method, "random+anneal");
}

TEST(SearchOn, GoesOnByTheNamedPlannerOnTheFirstThreadWhereTransfersDoNotContend) {
  const auto planner = ShippedPlanners().Make("brkga");
  EXPECT_EQ(Searched(5, Proxy::kLinear, 1, 60, "random", planner.get()).found->method, "random+brkga");
  EXPECT_EQ(Searched(5, Proxy::kContended, 1, 60, "random", planner.get()).found->method, "random+anneal");
}

TEST(SearchOn, OpensFusionWhereOpsCanBeFusedAndKnowsThePlanItBeganWith) {
  const ComputationGraph graph = testing::UnrolledTraining();
  const Machine machine = *MachinePreset("p100x4");
  for (const Proxy proxy : {Proxy::kLinear, Proxy::kContended}) {
    const auto model = MakeAnalyticCostModel(graph, machine, proxy);
    PoolOptions pooling;
    pooling.methods = {"heft"};
    Pool pool = MakePool(*model, ShippedPlanners(), FusionOptions(*model), pooling, {});
    const auto open = ShippedPlanners().Make("anneal+fusion");
    const std::size_t ways = pool.fusions.size();
    const std::optional<PoolEntry> found =
        SearchOnFrom(*model, pool, pool.entries.front(), {.seconds = 0.3, .open = open.get(), .random = Random(1)});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->method, "heft+anneal+fusion");
    EXPECT_LT(found->proxy_seconds, pool.entries.front().proxy_seconds);
    EXPECT_GE(pool.fusions.size(), ways);
    EXPECT_EQ(WhyNotValid(graph, machine, MakeCandidate(pool, *found).plan), std::nullopt);
    const CostedGraph& costed = pool.fusions[static_cast<std::size_t>(found->fusion)].costed;
    EXPECT_DOUBLE_EQ(Simulator(costed).Makespan(found->assignment), found->proxy_seconds);
  }
}

TEST(SearchOn, OpensFusionOnEveryThreadWhereTransfersDoNotContend) {
  const ComputationGraph graph = testing::UnrolledTraining();
  const Machine machine = *MachinePreset("p100x4");
  const auto model = MakeAnalyticCostModel(graph, machine);
  PoolOptions pooling;
  pooling.methods = {"heft"};
  Pool pool = MakePool(*model, ShippedPlanners(), FusionOptions(*model), pooling, {});
  const auto open = ShippedPlanners().Make("anneal+fusion");
  std::string begun;
  const SearchOnOptions options{.seconds = 0.2,
                                .threads = 3,
                                .open = open.get(),
                                .random = Random(1),
                                .begins = [&begun](const std::string& method) { begun = method; }};
  const std::optional<PoolEntry> found = SearchOnFrom(*model, pool, pool.entries.front(), options);
  ASSERT_TRUE(found);
  EXPECT_EQ(begun, "anneal+fusion");
  EXPECT_EQ(found->method, "heft+anneal+fusion");
}

TEST(SearchOn, NamesNothingWhereAPlanCannotBecomeFaster) {
  for (const Proxy proxy : {Proxy::kLinear, Proxy::kContended}) EXPECT_FALSE(Searched(7, proxy, 2, 1, "heft").found);
}

}  // namespace
}  // namespace millrace
