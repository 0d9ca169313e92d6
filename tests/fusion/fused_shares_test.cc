// SPDX-License-Identifier: Apache-2.0
#include "millrace/fusion/fused_shares.h"

#include <gtest/gtest.h>

#include <memory>
#include <span>

#include "millrace/cost/analytic_cost.h"
#include "millrace/fusion/merged_fusion.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

TEST(FusedShares, OfAGroupAddUpToItsTimeWhereItCanRun) {
  Random random(41);
  int shared = 0, closed = 0;
  for (int round = 0; round < 300; ++round) {
    const ComputationGraph graph = testing::RandomGraph(random);
    const Machine machine = testing::RandomMachine(random);
    const auto base = MakeAnalyticCostModel(graph, machine);
    const FusionGroups groups = testing::RandomGroups(random, graph);
    const auto model = MakeFusedSharesModel(*base, groups);
    for (int device = 0; device < base->topology().num_devices; ++device) {
      for (const std::vector<OpId>& group : groups) {
        const double together = base->GroupSeconds(group, device);
        EXPECT_EQ(model->GroupSeconds(group, device), group.size() > 1 ? together : base->GroupSeconds(group, device));
        double apart = 0, shares = 0;
        for (const OpId op : group) {
          apart += base->GroupSeconds(std::span(&op, 1), device);
          shares += model->GroupSeconds(std::span(&op, 1), device);
        }
        if (together < kCannotRun && apart > 0 && apart < kCannotRun) {
          EXPECT_NEAR(shares, together, 1e-9 * together) << round;
          shared += group.size() > 1 ? 1 : 0;
        } else {
          EXPECT_EQ(shares, apart) << round;
          closed += group.size() > 1 ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(shared, 300);
  EXPECT_GT(closed, 30);
}

TEST(FusedShares, OfOneGroupAreInProportionToWhatItsOpsTakeAlone) {
  Random random(42);
  for (int round = 0; round < 100; ++round) {
    const ComputationGraph graph = testing::RandomGraph(random);
    const Machine machine = testing::RandomMachine(random);
    const auto base = MakeAnalyticCostModel(graph, machine);
    const auto model = MakeFusedSharesModel(*base, MergedFusion(*base));
    for (const std::vector<OpId>& group : MergedFusion(*base)) {
      for (std::size_t i = 1; i < group.size(); ++i) {
        const std::span<const OpId> one(&group[i - 1], 1), other(&group[i], 1);
        const double before = base->GroupSeconds(one, 0) * model->GroupSeconds(other, 0);
        const double after = base->GroupSeconds(other, 0) * model->GroupSeconds(one, 0);
        if (before < kCannotRun && after < kCannotRun) {
          EXPECT_NEAR(before, after, 1e-9 * before);
        }
      }
    }
  }
}

TEST(FusedShares, LeavesTransfersAndSteeringAsTheyAre) {
  Random random(43);
  const ComputationGraph graph = testing::RandomGraph(random);
  const Machine machine = testing::RandomMachine(random);
  const auto base = MakeAnalyticCostModel(graph, machine);
  const auto model = MakeFusedSharesModel(*base, MergedFusion(*base));
  EXPECT_EQ(&model->topology(), &base->topology());
  EXPECT_EQ(&model->graph(), &graph);
  EXPECT_EQ(model->steering(), base->steering());
}

}  // namespace
}  // namespace millrace
