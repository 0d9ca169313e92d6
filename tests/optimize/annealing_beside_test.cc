// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/annealing_beside.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/fusion/fusion_options.h"
#include "millrace/machine/preset.h"
#include "millrace/plan/verify.h"
#include "millrace/simulate/timeline.h"
#include "millrace/workloads/random_graph.h"
#include "tests/optimize/shipped_planners.h"
#include "tests/workloads/unrolled_training.h"

namespace millrace {
namespace {

using testing::ShippedPlanners;

constexpr double kAnHour = 3600;

struct Annealed {
  ComputationGraph graph;
  Machine machine = *MachinePreset("homogeneous:4,latency=0,bandwidth=1e9");
  std::unique_ptr<CostModel> model;
  Pool pool;

  Annealed(Proxy proxy, std::vector<std::string> methods)
      : graph(MakeRandomGraph("layered", {.ops = 60, .ccr = 3, .seed = 4})) {
    model = MakeAnalyticCostModel(graph, machine, proxy);
    PoolOptions options;
    options.methods = std::move(methods);
    options.iterations = 2000;
    pool = MakePool(*model, ShippedPlanners(), FusionOptions(*model), options, {});
  }

  double FastestOf(const std::string& method) const {
    double fastest = 1e300;
    for (const PoolEntry& entry : pool.entries) {
      if (entry.method == method) fastest = std::min(fastest, entry.proxy_seconds);
    }
    return fastest;
  }
};

TEST(AnnealingBeside, FindsAValidPlanFasterThanItsStartUnderEitherProxy) {
  for (const Proxy proxy : {Proxy::kLinear, Proxy::kContended}) {
    Annealed on(proxy, {"list"});
    const std::optional<PoolEntry> found = [&on] {
      AnnealingBeside beside(*on.model, FusionOptions(*on.model), 0.2, Random(1));
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      return beside.Stop(on.pool);
    }();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->method, "anneal");
    EXPECT_LT(found->proxy_seconds, on.FastestOf("list"));
    EXPECT_EQ(WhyNotValid(on.graph, on.machine, MakeCandidate(on.pool, *found).plan), std::nullopt);
    const CostedGraph& costed = on.pool.fusions[static_cast<std::size_t>(found->fusion)].costed;
    EXPECT_DOUBLE_EQ(Simulator(costed).Makespan(found->assignment), found->proxy_seconds);
  }
}

TEST(AnnealingBeside, OpensFusionWhereOpsCanBeFusedAndThereIsTime) {
  const ComputationGraph graph = testing::UnrolledTraining();
  const Machine machine = *MachinePreset("p100x4");
  const auto model = MakeAnalyticCostModel(graph, machine, Proxy::kContended);
  const std::vector<FusionOption> fusions = FusionOptions(*model);
  ASSERT_GT(fusions.size(), 1u);
  const auto annealed = [&](double seconds, double until) {
    Pool pool;
    AnnealingBeside beside(*model, fusions, seconds, Random(1));
    std::this_thread::sleep_for(std::chrono::duration<double>(until));
    std::optional<PoolEntry> found = beside.Stop(pool);
    EXPECT_TRUE(found);
    EXPECT_EQ(pool.fusions.size(), 1u);
    EXPECT_EQ(WhyNotValid(graph, machine, MakeCandidate(pool, *found).plan), std::nullopt);
    EXPECT_DOUBLE_EQ(Simulator(pool.fusions.front().costed).Makespan(found->assignment), found->proxy_seconds);
    return *std::move(found);
  };
  EXPECT_EQ(annealed(kAnHour, 0.1).method, "anneal+fusion");
  EXPECT_EQ(annealed(0, 0).method, "anneal");
}

TEST(AnnealingBeside, EndsWhenItIsAskedToAndNotOnlyWhenItsTimeIsOver) {
  Annealed on(Proxy::kContended, {"heft"});
  AnnealingBeside beside(*on.model, FusionOptions(*on.model), kAnHour, Random(1));
  const std::optional<PoolEntry> found = beside.Stop(on.pool);
  ASSERT_TRUE(found);
  EXPECT_LE(found->proxy_seconds, on.FastestOf("heft"));
}

TEST(AnnealingBeside, EndsWithTheObject) {
  const Annealed on(Proxy::kLinear, {"heft"});
  AnnealingBeside beside(*on.model, FusionOptions(*on.model), kAnHour, Random(1));
}

TEST(AnnealingBeside, WithoutTimeHasHeftsPlan) {
  Annealed on(Proxy::kLinear, {"heft"});
  const std::optional<PoolEntry> found =
      AnnealingBeside(*on.model, FusionOptions(*on.model), 0, Random(1)).Stop(on.pool);
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->proxy_seconds, on.FastestOf("heft"));
}

TEST(AnnealingBeside, AddsItsWayOfFusingToAPoolThatHasNotGotIt) {
  Annealed on(Proxy::kLinear, {"heft"});
  const auto stop_into = [&on](Pool& pool) {
    return AnnealingBeside(*on.model, FusionOptions(*on.model), 0, Random(1)).Stop(pool);
  };
  const std::size_t known = on.pool.fusions.size();
  ASSERT_TRUE(stop_into(on.pool));
  EXPECT_EQ(on.pool.fusions.size(), known);
  Pool without;
  const std::optional<PoolEntry> found = stop_into(without);
  ASSERT_TRUE(found);
  ASSERT_EQ(without.fusions.size(), 1u);
  EXPECT_EQ(found->fusion, 0);
  EXPECT_EQ(without.fusions.front().costed.groups, on.pool.fusions.front().costed.groups);
}

}  // namespace
}  // namespace millrace
