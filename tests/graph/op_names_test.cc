// SPDX-License-Identifier: Apache-2.0
#include "millrace/graph/op_names.h"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(OpNames, MatchAsAWholeAndAcrossSlashes) {
  EXPECT_TRUE(NameMatches("layer1/*", "layer1/attention/MatMul"));
  EXPECT_TRUE(NameMatches("conv?", "conv7"));
  EXPECT_TRUE(NameMatches("conv[13]", "conv3"));
  EXPECT_FALSE(NameMatches("conv", "conv7"));
  EXPECT_FALSE(NameMatches("onv*", "conv7"));
}

TEST(OpNames, ListOpsFromTheLowestId) {
  GraphData data;
  for (const char* const name : {"b", "a", "ab"}) {
    data.ops.emplace_back();
    data.ops.back().name = name;
  }
  const ComputationGraph graph(std::move(data));
  EXPECT_EQ(OpsNamed(graph, "a*"), (std::vector<OpId>{1, 2}));
  EXPECT_EQ(OpsNamed(graph, "c*"), std::vector<OpId>());
}

}  // namespace
}  // namespace millrace
