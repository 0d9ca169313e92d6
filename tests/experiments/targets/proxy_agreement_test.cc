// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/targets/proxy_agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "millrace/engines/simgrid/flow_timeline.h"

namespace millrace {
namespace {

double NumberAt(const Table& table, std::size_t row, std::size_t column) { return table.rows[row][column].numbers[0]; }

TEST(ProxyAgreementTables, SayHowModelsRankErrAndChoose) {
  // Linear ranks the other way round and is twice as fast; contended ranks alike but for the best two.
  const ProxyAgreement one{"bus", "er", 1, {{4, 11, 10}, {3, 10, 11}, {2, 40, 20}}};
  const std::vector<Table> tables = ProxyAgreementTables({one});
  ASSERT_EQ(tables.size(), 2U);
  const Table& agreement = tables[0];
  EXPECT_DOUBLE_EQ(NumberAt(agreement, 0, 3), -1);
  EXPECT_DOUBLE_EQ(NumberAt(agreement, 0, 4), 0.5);
  EXPECT_NEAR(NumberAt(agreement, 0, 5), 100 * (1 - 3.0 / 11), 1e-9);
  EXPECT_NEAR(NumberAt(agreement, 0, 6), 10, 1e-9);
  EXPECT_DOUBLE_EQ(NumberAt(tables[1], 0, 2), 2);
  EXPECT_DOUBLE_EQ(NumberAt(tables[1], 0, 3), 1.1);
}

TEST(CompareProxies, AsksAllThreeOfEveryPlanAndNoneIsBelowTheLinearOne) {
  if (!HasSimGrid()) GTEST_SKIP() << "built without SimGrid";
  ProxyAgreementOptions options;
  options.plans = 7;
  options.ops = 15;
  options.ccr = {1};
  options.families = {"er"};
  const std::vector<ProxyAgreement> agreements = CompareProxies(options, [](int, int) {});
  ASSERT_EQ(agreements.size(), 3U);
  for (const ProxyAgreement& agreement : agreements) {
    ASSERT_EQ(agreement.seconds.size(), 7U);
    for (const auto& [linear, contended, simgrid] : agreement.seconds) {
      EXPECT_GE(contended, linear * (1 - 1e-9));
      EXPECT_GE(simgrid, linear * (1 - 1e-6));
    }
  }
}

}  // namespace
}  // namespace millrace
