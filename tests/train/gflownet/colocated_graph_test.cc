// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/gflownet/colocated_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "millrace/workloads/random_graph.h"

namespace millrace {
namespace {

ComputationGraph Drawn(std::uint64_t seed) {
  RandomGraphOptions options;
  options.ops = 40;
  options.ccr = 1;
  options.seed = seed;
  return MakeRandomGraph("er", options);
}

TEST(ColocatedGraph, SideBySideHoldsEveryOpToItsCopiesAndNoEdgeBetweenThem) {
  const ComputationGraph one = Drawn(1);
  const ComputationGraph three = SideBySide(one, 3);
  ASSERT_EQ(three.num_ops(), 3 * one.num_ops());
  ASSERT_EQ(three.tensors().size(), 3 * one.tensors().size());
  for (OpId id = 0; id < three.num_ops(); ++id) {
    const OpId original = id % one.num_ops();
    EXPECT_EQ(three.op(id).colocate, three.op(original).colocate);
    EXPECT_EQ(three.op(id).colocate == three.op(0).colocate, original == 0);
    EXPECT_EQ(three.op(id).seconds.everywhere, one.op(original).seconds.everywhere);
    const auto readers = three.Successors(id), expected = one.Successors(original);
    ASSERT_EQ(readers.size(), expected.size());
    for (std::size_t i = 0; i < readers.size(); ++i) EXPECT_EQ(readers[i], expected[i] + id - original);
  }
}

TEST(ColocatedGraph, RandomSetsTakeAFifthOfTheOpsOrMoreAndNothingElseChanges) {
  const ComputationGraph graph = Drawn(2);
  Random random(3);
  double held = 0, largest = 0;
  constexpr int kDraws = 200;
  for (int draw = 0; draw < kDraws; ++draw) {
    const ComputationGraph made = WithRandomColocations(graph, random);
    ASSERT_EQ(made.num_ops(), graph.num_ops());
    std::map<std::string, int> sets;
    for (OpId id = 0; id < made.num_ops(); ++id) {
      EXPECT_EQ(made.op(id).seconds.everywhere, graph.op(id).seconds.everywhere);
      EXPECT_TRUE(std::ranges::equal(made.Successors(id), graph.Successors(id)));
      if (!made.op(id).colocate.empty()) ++sets[made.op(id).colocate];
    }
    for (const auto& [name, ops] : sets) {
      held += ops;
      largest = std::max<double>(largest, ops);
    }
  }
  EXPECT_NEAR(held / kDraws / graph.num_ops(), 0.6, 0.1);
  EXPECT_GT(largest, 8);
}

}  // namespace
}  // namespace millrace
