// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/targets/engine_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace {
namespace {

using ::testing::ElementsAre;

EngineRun Ran(const std::string& engine, const std::string& way, double milliseconds, const std::string& method = "") {
  EngineRun run{engine, way, method, {}};
  for (const double more : {0.0, 0.1, 0.2}) run.measured.times.push_back(1e-3 * (milliseconds + more));
  Summarise(&run.measured);
  return run;
}

std::vector<std::string> TextsOf(const std::vector<Cell>& row) {
  std::vector<std::string> texts;
  for (const Cell& cell : row) texts.push_back(cell.text);
  return texts;
}

// What an engine does without a plan is one core, all cores and modes of its own; plans are HEFT's and the best.
TEST(EngineTables, PutEveryWayInItsColumnAndCompareWithTheFirstEnginesBestWay) {
  EngineComparison comparison{"towers", {}, false, 2};
  comparison.runs = {Ran("ort", "sequential", 9.9), Ran("ort", "all-cores", 7.9),   Ran("ort", "ort-parallel", 5.9),
                     Ran("ort", "heft", 6.9),       Ran("ort", "best", 4.9, "etf"), Ran("cpu", "sequential", 8.9),
                     Ran("cpu", "all-cores", 6.9),  Ran("cpu", "heft", 3.9),        Ran("cpu", "best", 2.9, "anneal")};
  const std::vector<Table> tables = EngineTables({comparison});
  ASSERT_EQ(tables.size(), 2u);
  ASSERT_EQ(tables[1].rows.size(), 2u);
  EXPECT_THAT(TextsOf(tables[1].rows[0]),
              ElementsAre("towers", "ort", "10.000 / 9.900", "8.000 / 7.900", "6.000 / 5.900", "7.000 / 6.900",
                          "5.000 / 4.900", "etf", ::testing::StartsWith("1.20 ("), "1.20"));
  EXPECT_THAT(TextsOf(tables[1].rows[1]),
              ElementsAre("towers", "cpu", "9.000 / 8.900", "7.000 / 6.900", "-", "4.000 / 3.900", "3.000 / 2.900",
                          "anneal", ::testing::StartsWith("2.00 ("), "1.33"));
  ASSERT_EQ(tables[0].rows.size(), 2u);
  EXPECT_THAT(TextsOf(tables[0].rows[1]), ElementsAre("cpu", "1", "2.000", "2.00", "2.00", "1.333"));
}

TEST(EngineTables, LeaveOutWhatFailedAndSayWhatWasDisturbed) {
  EngineComparison comparison{"gnmt", {Ran("ort", "all-cores", 3.9), Ran("ort", "best", 1.9, "etf")}, true, 2};
  comparison.runs.back().measured.failed = true;
  const std::vector<Table> tables = EngineTables({comparison});
  EXPECT_THAT(TextsOf(tables[1].rows.at(0)),
              ElementsAre("gnmt (disturbed)", "ort", "-", "4.000 / 3.900", "-", "-", "-", "", "-", "-"));
  EXPECT_TRUE(tables[0].rows.empty());
}

TEST(EngineTables, TakeGeometricMeansOverModels) {
  const auto model = [](double usual, double best) {
    return EngineComparison{
        "m", {Ran("cpu", "all-cores", usual - 0.1), Ran("cpu", "best", best - 0.1, "heft")}, false, 2};
  };
  const std::vector<Table> tables = EngineTables({model(8, 2), model(3, 3)});
  EXPECT_THAT(TextsOf(tables[0].rows.at(0)), ElementsAre("cpu", "2", "2.000", "1.00", "4.00", "-"));
}

}  // namespace
}  // namespace millrace
