// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/targets/proxy_agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "millrace/engines/simgrid/flow_timeline.h"
#include "millrace/machine/preset.h"

namespace millrace {
namespace {

double NumberAt(const Table& table, std::size_t row, std::size_t column) { return table.rows[row][column].numbers[0]; }

TEST(ProxyAgreementTables, SayHowModelsRankErrAndChoose) {
  // Linear ranks the other way round and is twice as fast; contended ranks alike but for the best two; fair is right.
  const ProxyAgreement one{"bus", "er", 1, {{4, 11, 10, 10, 0}, {3, 10, 11, 11, 0}, {2, 40, 20, 20, 0}}};
  const std::vector<Table> tables = ProxyAgreementTables({one});
  ASSERT_EQ(tables.size(), 2U);
  const Table& agreement = tables[0];
  EXPECT_DOUBLE_EQ(NumberAt(agreement, 0, 3), -1);
  EXPECT_DOUBLE_EQ(NumberAt(agreement, 0, 4), 0.5);
  EXPECT_DOUBLE_EQ(NumberAt(agreement, 0, 5), 1);
  EXPECT_NEAR(NumberAt(agreement, 0, 6), 100 * (1 - 3.0 / 11), 1e-9);
  EXPECT_NEAR(NumberAt(agreement, 0, 7), 10, 1e-9);
  EXPECT_NEAR(NumberAt(agreement, 0, 8), 0, 1e-9);
  EXPECT_DOUBLE_EQ(NumberAt(tables[1], 0, 2), 2);
  EXPECT_DOUBLE_EQ(NumberAt(tables[1], 0, 3), 1.1);
}

TEST(ProxyAgreementTables, TakeWhatWasMeasuredForTheTruth) {
  // Measured like SimGrid, at half the time; linear ranks the other way round.
  const ProxyAgreement one{"ranks", "er", 1, {{4, 5, 5, 10, 5}, {3, 6, 6, 12, 6}, {2, 5.5, 5.5, 20, 10}}};
  const std::vector<Table> tables = ProxyAgreementTables({one});
  const Table& agreement = tables[0];
  ASSERT_EQ(agreement.columns.size(), 11U);
  EXPECT_EQ(agreement.columns[6], "rank: SimGrid, measured");
  EXPECT_DOUBLE_EQ(NumberAt(agreement, 0, 3), -1);   // linear
  EXPECT_DOUBLE_EQ(NumberAt(agreement, 0, 4), 0.5);  // contended
  EXPECT_DOUBLE_EQ(NumberAt(agreement, 0, 6), 1);    // SimGrid
  EXPECT_NEAR(NumberAt(agreement, 0, 8), 0, 1e-9);
  EXPECT_NEAR(NumberAt(agreement, 0, 10), 100, 1e-9);
  ASSERT_EQ(tables[1].columns.size(), 6U);
  EXPECT_DOUBLE_EQ(NumberAt(tables[1], 0, 2), 2);
  EXPECT_DOUBLE_EQ(NumberAt(tables[1], 0, 3), 1);
  EXPECT_DOUBLE_EQ(NumberAt(tables[1], 0, 5), 1);
}

// What runs plans here is the contended timeline: measured and contended are the same, whatever the graph was scaled
// by.
TEST(CompareProxies, RunsEveryPlanOnANetworkThatIsThere) {
  if (!HasSimGrid()) GTEST_SKIP() << "built without SimGrid";
  MeasuredNetwork network{"two", *MachinePreset("homogeneous:2,latency=1e-4,bandwidth=1e8"), nullptr};
  network.target = [&network](const ComputationGraph& graph, const CostModel& cost) {
    TargetContext context;
    context.graph = &graph;
    context.machine = &network.machine;
    context.cost = &cost;
    return MakeTarget("sim:contention", context);
  };
  ProxyAgreementOptions options;
  options.plans = 5;
  options.ops = 12;
  options.ccr = {1};
  options.families = {"er"};
  options.network = &network;
  const std::vector<ProxyAgreement> agreements = CompareProxies(options, [](int, int) {});
  ASSERT_EQ(agreements.size(), 1U);
  EXPECT_EQ(agreements[0].machine, "two");
  ASSERT_EQ(agreements[0].seconds.size(), 5U);
  for (const auto& [linear, contended, fair, simgrid, measured] : agreements[0].seconds) {
    EXPECT_NEAR(measured, contended, 1e-9 * contended);
    EXPECT_LT(measured, 12 * 4 * kMeasuredSeconds);  // all ops and their transfers, one after the other
  }
}

TEST(CompareProxies, AsksAllOfEveryPlanAndNoneIsBelowTheLinearOne) {
  if (!HasSimGrid()) GTEST_SKIP() << "built without SimGrid";
  ProxyAgreementOptions options;
  options.plans = 7;
  options.ops = 15;
  options.ccr = {1};
  options.families = {"er"};
  const std::vector<ProxyAgreement> agreements = CompareProxies(options, [](int, int) {});
  ASSERT_EQ(agreements.size(), 4U);
  for (const ProxyAgreement& agreement : agreements) {
    ASSERT_EQ(agreement.seconds.size(), 7U);
    for (const auto& [linear, contended, fair, simgrid, measured] : agreement.seconds) {
      EXPECT_GE(contended, linear * (1 - 1e-9));
      EXPECT_GE(fair, linear * (1 - 1e-9));
      EXPECT_GE(simgrid, linear * (1 - 1e-6));
      EXPECT_EQ(measured, 0);
    }
  }
}

}  // namespace
}  // namespace millrace
