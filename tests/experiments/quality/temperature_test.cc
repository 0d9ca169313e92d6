// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality/temperature.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "millrace/gflownet/planners.h"

namespace millrace {
namespace {

std::vector<Table> TablesOf(const TemperatureOptions& options) {
  const auto policy = UntrainedGFlowNetPolicy();
  return TemperatureTables(*policy, *policy, options, [](int, int) {});
}

TEST(TemperatureTables, HaveARowForEachPairOfTemperaturesWhicheverOthersThereAre) {
  TemperatureOptions options;
  options.reward = {0.01, 0.5};
  options.softmax = {0.5, 1, 2};
  options.samples = 4;
  options.graphs = 2;
  const std::vector<Table> tables = TablesOf(options);
  ASSERT_EQ(tables.size(), 3u);
  for (const Table& table : tables) {
    ASSERT_EQ(table.rows.size(), 6u);
    for (std::size_t pair = 0; pair < 6; ++pair) {
      const std::vector<Cell>& row = table.rows[pair];
      EXPECT_EQ(row[0].numbers.at(0), options.reward[pair / 3]);
      EXPECT_EQ(row[1].numbers.at(0), options.softmax[pair % 3]);
      EXPECT_GE(row[2].numbers.at(0), row[3].numbers.at(0)) << "the best sample is no worse than the mean";
      // The policy here is the untrained one.
      EXPECT_EQ(row[2].text, row[7].text);
      EXPECT_EQ(row[3].text, row[8].text);
      EXPECT_GT(row[5].numbers.at(0), 0) << "samples differ";
    }
  }
}

TEST(TemperatureTables, AreMeansOverGraphs) {
  TemperatureOptions options;
  options.reward = {0.05};
  options.softmax = {1};
  options.samples = 3;
  options.graphs = 1;
  const std::vector<Table> one = TablesOf(options);
  options.graphs = 3;
  const std::vector<Table> three = TablesOf(options);
  // The first graph of the first setting is the same one, drawn for alike.
  EXPECT_NE(one[0].rows[0][2].numbers, three[0].rows[0][2].numbers);
}

}  // namespace
}  // namespace millrace
