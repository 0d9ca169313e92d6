// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/annealing_beside.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/machine/preset.h"
#include "millrace/plan/verify.h"
#include "millrace/simulate/timeline.h"
#include "millrace/workloads/random_graph.h"
#include "tests/optimize/shipped_planners.h"

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
    const Annealed on(proxy, {"list"});
    const std::optional<PoolEntry> found = [&on] {
      AnnealingBeside beside(*on.model, on.pool, 0.2, Random(1));
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      return beside.Stop();
    }();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->method, "anneal");
    EXPECT_LT(found->proxy_seconds, on.FastestOf("list"));
    EXPECT_EQ(WhyNotValid(on.graph, on.machine, MakeCandidate(on.pool, *found).plan), std::nullopt);
    const CostedGraph& costed = on.pool.fusions[static_cast<std::size_t>(found->fusion)].costed;
    EXPECT_DOUBLE_EQ(Simulator(costed).Makespan(found->assignment), found->proxy_seconds);
  }
}

TEST(AnnealingBeside, EndsWhenItIsAskedToAndNotOnlyWhenItsTimeIsOver) {
  const Annealed on(Proxy::kContended, {"heft"});
  AnnealingBeside beside(*on.model, on.pool, kAnHour, Random(1));
  const std::optional<PoolEntry> found = beside.Stop();
  ASSERT_TRUE(found);
  EXPECT_LE(found->proxy_seconds, on.FastestOf("heft"));
}

TEST(AnnealingBeside, EndsWithTheObject) {
  const Annealed on(Proxy::kLinear, {"heft"});
  AnnealingBeside beside(*on.model, on.pool, kAnHour, Random(1));
}

TEST(AnnealingBeside, BeginsAtThePlanOfAHeuristicAlsoWhereOthersAreFaster) {
  const Annealed on(Proxy::kLinear, {"heft", "anneal"});
  ASSERT_LT(on.FastestOf("anneal"), on.FastestOf("heft"));
  const std::optional<PoolEntry> found = AnnealingBeside(*on.model, on.pool, 0, Random(1)).Stop();
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->proxy_seconds, on.FastestOf("heft"));
}

}  // namespace
}  // namespace millrace
