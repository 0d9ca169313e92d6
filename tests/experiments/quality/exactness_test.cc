// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality/exactness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "millrace/gflownet/planners.h"
#include "millrace/gflownet/policy/learned_policy.h"
#include "tests/reference/sanitized.h"

namespace millrace {
namespace {

TEST(Exactness, FindsUniformChoicesAsFarFromTheRewardAsUniformChoices) {
  ExactnessOptions options;
  options.most_ops = 6;
  options.graphs = 4;
  options.fewest_plans = 20;
  options.most_plans = 300;
  int told = 0;
  const std::vector<Table> tables =
      Exactness(*MakeUniformPolicy(), *MakeUniformPolicy(), options, [&told](int, int) { ++told; });
  ASSERT_EQ(tables.size(), 2u);
  ASSERT_EQ(tables[0].rows.size(), options.temperatures.size());
  double before = 2;
  for (const std::vector<Cell>& row : tables[0].rows) {
    for (const std::size_t column : {5u, 8u}) EXPECT_EQ(row[1].numbers[0], row[column].numbers[0]);
    EXPECT_LT(row[6].numbers[0], row[1].numbers[0] / 2);
    EXPECT_LE(row[7].numbers[0], row[2].numbers[0]);
    EXPECT_LT(row[1].numbers[0], before);  // the hotter the reward, the more alike are its plans
    before = row[1].numbers[0];
    EXPECT_GE(row[2].numbers[0], row[1].numbers[0]);
  }
  EXPECT_EQ(told, options.graphs);
  ASSERT_EQ(tables[1].rows.size(), static_cast<std::size_t>(options.graphs) * options.temperatures.size());
  for (const std::vector<Cell>& row : tables[1].rows) {
    EXPECT_GE(row[1].numbers[0], options.fewest_plans);
    EXPECT_LE(row[1].numbers[0], options.most_plans);
  }
}

TEST(Exactness, ShippedWeightsForItAreNearTheRewardWhereTheirUntrainedStartIsFar) {
  if (testing::kSanitized) GTEST_SKIP() << "what weights know is the same, and takes half a minute";
  const std::string file = GFlowNetWeightsFile("exact");
  ExactnessOptions options;
  options.most_ops = 6;
  options.graphs = 8;
  options.features = false;
  const Table table =
      Exactness(*ReadLearnedPolicy(file), *MakeUntrainedPolicy(ReadWeights(file)), options, [](int, int) {})[0];
  for (const std::vector<Cell>& row : table.rows) {
    EXPECT_LE(row[1].numbers[0], 0.25) << row[0].text;
    EXPECT_LT(row[1].numbers[0], row[5].numbers[0]) << row[0].text;
  }
}

}  // namespace
}  // namespace millrace
