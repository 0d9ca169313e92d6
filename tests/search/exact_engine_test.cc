// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/exact_engine.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "millrace/cost/analytic_cost.h"
#include "millrace/search/exact_parts.h"
#include "millrace/simulate/narrowed.h"
#include "millrace/simulate/path_bounds.h"
#include "millrace/simulate/reversed.h"
#include "millrace/simulate/time_step.h"
#include "millrace/simulate/timeline.h"
#include "tests/reference/random_problem.h"
#include "tests/reference/sanitized.h"
#include "tests/reference/slow_optimum.h"

namespace millrace {
namespace {

constexpr std::int64_t kToTheEnd = std::int64_t{1} << 40;
constexpr std::size_t kSomeBytes = std::size_t{1} << 20;

bool Never() { return false; }

double LeastOf(ExactEngine engine) {
  engine.Run(kToTheEnd, Never);
  EXPECT_TRUE(engine.done());
  return engine.best() ? engine.best()->makespan : std::numeric_limits<double>::infinity();
}

double LeastOf(ExactParts parts, const CostedGraph& costed) {
  double least = std::numeric_limits<double>::infinity();
  while (!parts.done()) {
    parts.Round(2, Never);
    if (!parts.best()) continue;
    least = MakeTimeline(costed, parts.best()->assignment).makespan;
    EXPECT_NEAR(least, parts.best()->makespan, 1e-9 * least);
    parts.LowerLimit(least * (1 - 1e-12));
  }
  return least;
}

// Every way of searching by itself, from a limit far above the optimum: what one leaves out wrongly no other finds.
TEST(ExactEngine, FindsTheEnumeratedOptimumForwardsBackwardsNarrowedAndInParts) {
  Random random(81);
  for (int round = 0; round < testing::Rounds(900); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    testing::RandomProblemOptions problem;
    problem.most_ops = round % 90 == 0 ? 7 : 5;
    problem.most_devices = 3;
    problem.tidy = round % 3 == 0;
    problem.links = round % 4 > 0;
    const ComputationGraph graph = testing::RandomGraph(random, problem);
    const CostedGraph costed =
        MakeCostedGraph(*MakeAnalyticCostModel(graph, testing::RandomMachine(random, problem)), SingleOpGroups(graph));
    const double optimum = testing::SlowOptimum(costed);
    if (optimum == 0) continue;
    const double limit = optimum * (round % 2 == 0 ? 1.5 : 5);
    const double step = TimeStep(costed);
    const PathBounds paths = MakePathBounds(costed);
    const CostedGraph reversed = Reversed(costed);
    for (const std::size_t memo : {std::size_t{0}, kSomeBytes}) {
      ASSERT_NEAR(LeastOf(ExactEngine(costed, paths.tail, {}, limit, step, memo)), optimum, 1e-9 * optimum);
      ASSERT_NEAR(LeastOf(ExactEngine(reversed, paths.head, {}, limit, 0, memo)), optimum, 1e-9 * optimum);
    }
    const Narrowed narrowed = NarrowBelow(costed, limit);
    ASSERT_NEAR(LeastOf(ExactEngine(narrowed.costed, narrowed.paths.tail, narrowed.apart, limit, step, kSomeBytes)),
                optimum, 1e-9 * optimum);
    ASSERT_NEAR(LeastOf(ExactParts(narrowed, limit, step, 3), costed), optimum, 1e-9 * optimum);
  }
}

TEST(ExactEngine, BoundsWhatIsOpenWheneverItStops) {
  Random random(82);
  for (int round = 0; round < testing::Rounds(300); ++round) {
    testing::RandomProblemOptions problem;
    problem.most_ops = 5;
    problem.most_devices = 3;
    const ComputationGraph graph = testing::RandomGraph(random, problem);
    const CostedGraph costed =
        MakeCostedGraph(*MakeAnalyticCostModel(graph, testing::RandomMachine(random, problem)), SingleOpGroups(graph));
    const double optimum = testing::SlowOptimum(costed);
    const PathBounds paths = MakePathBounds(costed);
    ExactEngine engine(costed, paths.tail, {}, 3 * optimum, 0, kSomeBytes);
    while (!engine.done()) {
      const double known = engine.best() ? engine.best()->makespan : 3 * optimum;
      ASSERT_LE(std::min(engine.OpenBound(), known), optimum * (1 + 1e-9)) << round;
      engine.Run(1, Never);
    }
  }
}

}  // namespace
}  // namespace millrace
