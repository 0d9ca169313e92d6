// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality/families.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "millrace/errors/errors.h"
#include "millrace/workloads/random_graph.h"
#include "millrace/workloads/task_graph.h"

namespace millrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Families, SplitTheTaskGraphsInHalvesThatShareNone) {
  EXPECT_EQ(TuningFamilies().size(), JudgingFamilies().size());
  std::set<std::string> all(TuningFamilies().begin(), TuningFamilies().end());
  all.insert(JudgingFamilies().begin(), JudgingFamilies().end());
  EXPECT_EQ(all, std::set<std::string>(TaskGraphNames().begin(), TaskGraphNames().end()));
  for (const std::string& family : JudgingFamilies()) EXPECT_EQ(UseOfFamily(family), "judges");
  for (const std::string& family : TuningFamilies()) EXPECT_EQ(UseOfFamily(family), "tunes");
  for (const std::string& family : RandomFamilyNames()) EXPECT_EQ(UseOfFamily(family), "tunes");
}

TEST(Families, AreNamedByUseOrOneByOneAndEachOnce) {
  EXPECT_EQ(FamiliesOf({"judge"}), JudgingFamilies());
  EXPECT_EQ(FamiliesOf({"tune"}), TuningFamilies());
  EXPECT_EQ(FamiliesOf({"random"}), RandomFamilyNames());
  EXPECT_THAT(FamiliesOf({"lu", "er", "lu"}), ElementsAre("lu", "er"));
  EXPECT_EQ(FamiliesOf({"lu", "tune"}).size(), TuningFamilies().size());
  EXPECT_THAT([] { FamiliesOf({"trees"}); }, ThrowsMessage<InvalidInput>(HasSubstr("'trees'")));
}

}  // namespace
}  // namespace millrace
