// SPDX-License-Identifier: Apache-2.0
#include "millrace/memory/memory_saving.h"

#include <gtest/gtest.h>

#include <exception>

#include "millrace/cost/analytic_cost.h"
#include "millrace/plan/verify.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

TEST(MemorySaving, OffersValidPlans) {
  Random random(2);
  for (int i = 0; i < 150; ++i) {
    testing::RandomProblemOptions options;
    options.memory = i % 2 == 0;
    const ComputationGraph graph = testing::RandomGraph(random, options);
    const Machine machine = testing::RandomMachine(random, options);
    CostedGraph costed;
    try {
      costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), testing::RandomGroups(random, graph));
    } catch (const std::exception&) {
      continue;  // what must share a device can run nowhere
    }
    int offers = 0;
    MakeMemorySaving()->Propose(costed, {}, random, [&](const ProposedPlan& offer) {
      ++offers;
      ASSERT_EQ(WhyNotValid(graph, machine, Plan{costed.groups, offer.assignment.placement, offer.assignment.sequence}),
                std::nullopt);
    });
    EXPECT_GE(offers, 3);
    EXPECT_LE(offers, kMemorySavingOffers);
  }
}

}  // namespace
}  // namespace millrace
