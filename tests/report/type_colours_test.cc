// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/type_colours.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace {
namespace {

TypeShare ShareOf(const std::string& main, double seconds) {
  TypeShare share;
  share.main = main;
  share.seconds = seconds;
  return share;
}

TEST(TypeColours, GoByTheTimeThatATypeTakesInAllAccounts) {
  PlanAccount one, other;
  one.types = {ShareOf("Conv", 3), ShareOf("Add", 2), ShareOf("Relu", 1)};
  other.types = {ShareOf("Add", 5), ShareOf("MatMul", 1)};
  const TypeColours colours({one, other});
  // Seven seconds, three, and one each, by name.
  EXPECT_EQ(colours.types(), (std::vector<std::string>{"Add", "Conv", "MatMul", "Relu"}));
  EXPECT_EQ(colours.Of("Add"), 0U);
  EXPECT_EQ(colours.ClassOf("Relu"), "t3");
  EXPECT_EQ(colours.Of("Softmax"), kTypeColours);
  EXPECT_FALSE(colours.some_have_none());
}

TEST(TypeColours, AreOneForAllTypesBeyondTheFirstEight) {
  PlanAccount account;
  for (int i = 0; i < 10; ++i) account.types.push_back(ShareOf("type " + std::to_string(i), 10.0 - i));
  const TypeColours colours({account});
  EXPECT_EQ(colours.types().size(), kTypeColours);
  EXPECT_EQ(colours.Of("type 7"), 7U);
  EXPECT_EQ(colours.ClassOf("type 8"), "t8");
  EXPECT_EQ(colours.ClassOf("type 9"), "t8");
  EXPECT_TRUE(colours.some_have_none());
}

}  // namespace
}  // namespace millrace
