// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/colocation_ledger.h"

#include <gtest/gtest.h>

#include "tests/reference/problem_builder.h"

namespace millrace {
namespace {

using testing::ProblemBuilder;

// Two cores and both together as a third device; two pairs and one op alone.
TEST(ColocationLedger, DevicesOweWhatTheirUnitsAreBoundToUntilItIsPlaced) {
  ProblemBuilder problem(3);
  problem.machine.devices[2].units = {0, 1};
  const int a = problem.AddOp({1, 2, 4}, "a"), other_a = problem.AddOp({8, 16, 32}, "a");
  const int b = problem.AddOp({3, 3, 3}, "b");
  problem.AddOp({5, 5, 5}, "b");
  const int alone = problem.AddOp({7, 7, 7});
  const CostedGraph costed = problem.Price();
  ColocationLedger ledger(costed);
  for (int round = 0; round < 2; ++round) {
    EXPECT_FALSE(ledger.Settled(a));
    EXPECT_TRUE(ledger.Settled(alone));
    EXPECT_EQ(ledger.Bound(alone, 0), 0);
    EXPECT_EQ(ledger.Rest(a, 1), 16);
    EXPECT_EQ(ledger.Bound(a, 1), 16) << "nobody owes anything yet";

    ledger.Place(a, 0);
    EXPECT_TRUE(ledger.Settled(other_a));
    EXPECT_TRUE(ledger.Allows(other_a, 0));
    EXPECT_FALSE(ledger.Allows(other_a, 1));
    EXPECT_TRUE(ledger.Allows(b, 1));
    EXPECT_EQ(ledger.Bound(other_a, 0), 0) << "it has no choice any more";
    EXPECT_EQ(ledger.Bound(b, 0), 8 + 5);
    EXPECT_EQ(ledger.Bound(b, 1), 5);
    EXPECT_EQ(ledger.Bound(b, 2), 8 + 5) << "the gang waits for its busier core";
    EXPECT_EQ(ledger.Rest(b, 0), 5);

    ledger.Place(alone, 0);
    EXPECT_EQ(ledger.Bound(b, 0), 8 + 5);
    ledger.Place(other_a, 0);
    EXPECT_EQ(ledger.Bound(b, 0), 5);
    ledger.Clear();
  }
}

}  // namespace
}  // namespace millrace
