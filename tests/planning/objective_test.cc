// SPDX-License-Identifier: Apache-2.0
#include "millrace/planning/objective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "millrace/errors/errors.h"

namespace millrace {
namespace {

using Aim = Objective::Aim;

TEST(Objective, IsReadWithItsLimit) {
  EXPECT_EQ(ParseObjective("latency"), (Objective{Aim::kLatency, 1.1, {}}));
  EXPECT_EQ(ParseObjective("memory"), (Objective{Aim::kMemory, 1.1, {}}));
  EXPECT_EQ(ParseObjective("memory,within=2.5"), (Objective{Aim::kMemory, 2.5, {}}));
  EXPECT_EQ(ParseObjective("throughput,seconds=0.25"), (Objective{Aim::kThroughput, 1.1, 0.25}));
}

TEST(Objective, AllowsARatioOfTheFastestOrWhatIsSet) {
  EXPECT_DOUBLE_EQ(ParseObjective("memory,within=1.5").Limit(2), 3);
  EXPECT_DOUBLE_EQ(ParseObjective("memory,seconds=0.25").Limit(2), 0.25);
}

TEST(Objective, RefusesOtherWordsInOneLine) {
  for (const char* const words :
       {"", "speed", "memory,", "memory,within", "memory,within=", "memory,within=0.9", "memory,within=nan",
        "memory,within=1.1x", "memory,seconds=-1", "memory,bytes=3", "latency,within=2", "throughput,within=1e999"}) {
    try {
      ParseObjective(words);
      ADD_FAILURE() << words;
    } catch (const InvalidInput& error) {
      EXPECT_THAT(error.what(), ::testing::Not(::testing::HasSubstr("\n")));
      EXPECT_THAT(error.what(), ::testing::HasSubstr("--objective"));
    }
  }
}

}  // namespace
}  // namespace millrace
