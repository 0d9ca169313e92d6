// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/twins.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "millrace/search/live_plan.h"
#include "tests/reference/costed_problem.h"

namespace millrace {
namespace {

TEST(Twins, AreOfOneColocationEachInOnePairAndForgottenWhenAsked) {
  Random random(1);
  int pairs = 0;
  for (int round = 0; round < 300; ++round) {
    const testing::CostedProblem problem(random);
    const CostedGraph& costed = problem.costed;
    Twins twins(costed);
    const LivePlan plan(costed);
    for (int group = 0; group < costed.num_groups; ++group) {
      const std::span<const int> colocated = plan.Colocated(group);
      const std::int32_t colocation = costed.colocation[static_cast<std::size_t>(group)];
      EXPECT_EQ(static_cast<std::ptrdiff_t>(colocated.size()),
                colocation < 0 ? 0 : std::count(costed.colocation.begin(), costed.colocation.end(), colocation));
      for (const int other : colocated) {
        if (other == group) continue;
        twins.Match(group, other);
        std::vector<int> met;
        for (const int one : twins.matched()) {
          const int two = twins.TwinOf(one);
          EXPECT_EQ(twins.TwinOf(two), one);
          EXPECT_EQ(costed.colocation[static_cast<std::size_t>(one)], costed.colocation[static_cast<std::size_t>(two)]);
          met.insert(met.end(), {one, two});
          ++pairs;
        }
        std::sort(met.begin(), met.end());
        EXPECT_EQ(std::adjacent_find(met.begin(), met.end()), met.end());
        twins.Forget();
        for (const int one : met) EXPECT_EQ(twins.TwinOf(one), -1);
      }
    }
  }
  EXPECT_GT(pairs, 100);
}

}  // namespace
}  // namespace millrace
