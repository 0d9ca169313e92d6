// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace millrace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Table, IsPrintedAsMarkdown) {
  const Table table{
      "t", "What it is.", {"method", "x HEFT"}, {{Words("a|b"), Number(1.2345, 2)}, {Words("c"), Count(7)}}};
  EXPECT_EQ(Markdown(table),
            "What it is.\n\n"
            "| method | x HEFT |\n"
            "|---|---|\n"
            "| a\\|b | 1.23 |\n"
            "| c | 7 |\n\n");
}

TEST(Cell, KeepsTheNumbersBehindItsText) {
  EXPECT_EQ(Number(1.25, 1).text, "1.2");
  EXPECT_THAT(Number(1.25, 1).numbers, ElementsAre(1.25));
  EXPECT_EQ(MeanAndDeviation(2, 0.5, 2).text, "2.00 +- 0.50");
  EXPECT_THAT(MeanAndDeviation(2, 0.5, 2).numbers, ElementsAre(2, 0.5));
  EXPECT_EQ(Range(2, 1, 3, 0).text, "2 (1 .. 3)");
  EXPECT_THAT(Range(2, 1, 3, 0).numbers, ElementsAre(2, 1, 3));
}

TEST(Cell, OfNoNumberIsADash) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  for (const Cell& cell : {Number(none, 2), MeanAndDeviation(none, 1, 2), Range(none, none, none, 2)}) {
    EXPECT_EQ(cell.text, "-");
    EXPECT_THAT(cell.numbers, IsEmpty());
  }
}

}  // namespace
}  // namespace millrace
