// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "millrace/cost/analytic_cost.h"
#include "millrace/heuristics/heuristics.h"
#include "tests/reference/heuristic_names.h"
#include "tests/reference/offers.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

using testing::HeuristicNames;
using testing::Offers;

TEST(DrawingHeuristics, OfferAsManyPlansAsTheyAreAskedFor) {
  Random random(12);
  const ComputationGraph graph = testing::RandomGraph(random, {.group_seconds = false});
  const CostedGraph costed =
      MakeCostedGraph(*MakeUnitCostModel(graph, testing::RandomMachine(random)), SingleOpGroups(graph));
  int drawing = 0;
  for (const std::string& name : HeuristicNames()) {
    const std::unique_ptr<Planner> planner = MakeHeuristic(name);
    if (!planner->traits().takes_samples) continue;
    ++drawing;
    for (const std::int64_t samples : {1, 2, 7}) {
      Budget budget;
      budget.samples = samples;
      EXPECT_EQ(Offers(*planner, costed, budget, Random(3)).size(), static_cast<std::size_t>(samples)) << name;
    }
  }
  EXPECT_GE(drawing, 2);
}

}  // namespace
}  // namespace millrace
