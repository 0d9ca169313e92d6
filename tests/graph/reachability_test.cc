// SPDX-License-Identifier: Apache-2.0
#include "millrace/graph/reachability.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

// reaches[a][b]: is there a path of at least one edge from a to b?
std::vector<std::vector<char>> AllPaths(const ComputationGraph& graph) {
  const auto ops = static_cast<std::size_t>(graph.num_ops());
  std::vector<std::vector<char>> reaches(ops, std::vector<char>(ops, 0));
  for (std::size_t a = 0; a < ops; ++a) {
    for (const OpId b : graph.Successors(static_cast<OpId>(a))) reaches[a][static_cast<std::size_t>(b)] = 1;
  }
  for (std::size_t via = 0; via < ops; ++via) {
    for (std::size_t a = 0; a < ops; ++a) {
      for (std::size_t b = 0; b < ops; ++b) {
        if (reaches[a][via] != 0 && reaches[via][b] != 0) reaches[a][b] = 1;
      }
    }
  }
  return reaches;
}

TEST(Reachability, AgreesWithAllPathsOnConvexity) {
  int convex = 0;
  int other = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const ComputationGraph graph = testing::RandomGraph(random);
    const auto reaches = AllPaths(graph);
    Reachability reachability(graph);
    for (int question = 0; question < 30; ++question) {
      std::vector<OpId> ops;
      const double share = random.Uniform();
      for (OpId op = 0; op < graph.num_ops(); ++op) {
        if (random.Uniform() < share) ops.push_back(op);
      }
      for (std::size_t i = ops.size(); i > 1; --i) std::swap(ops[i - 1], ops[random.Below(i)]);
      bool expected = true;
      for (OpId outside = 0; outside < graph.num_ops(); ++outside) {
        if (std::count(ops.begin(), ops.end(), outside) != 0) continue;
        const auto at = static_cast<std::size_t>(outside);
        const bool left = std::any_of(ops.begin(), ops.end(),
                                      [&](OpId op) { return reaches[static_cast<std::size_t>(op)][at] != 0; });
        const bool back = std::any_of(ops.begin(), ops.end(),
                                      [&](OpId op) { return reaches[at][static_cast<std::size_t>(op)] != 0; });
        expected = expected && !(left && back);
      }
      ASSERT_EQ(reachability.Convex(ops), expected) << "seed " << seed;
      (expected ? convex : other) += 1;
    }
  }
  EXPECT_GT(convex, 500);
  EXPECT_GT(other, 500);
}

TEST(Reachability, FindsNoFaultWithNothingOrAll) {
  Random random(3);
  const ComputationGraph graph = testing::RandomGraph(random);
  Reachability reachability(graph);
  EXPECT_TRUE(reachability.Convex({}));
  const auto order = graph.topological_order();
  EXPECT_TRUE(reachability.Convex(order));
  for (const OpId op : order) EXPECT_TRUE(reachability.Convex(std::span(&op, 1)));
}

}  // namespace
}  // namespace millrace
