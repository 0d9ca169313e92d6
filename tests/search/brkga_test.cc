// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/brkga.h"
#include "millrace/heuristics/heuristics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "millrace/cost/analytic_cost.h"
#include "millrace/plan/verify.h"
#include "millrace/search/random_key_decoder.h"
#include "millrace/simulate/memory_check.h"
#include "millrace/simulate/timeline.h"
#include "tests/reference/costed_problem.h"
#include "tests/reference/offers.h"

namespace millrace {
namespace {

using testing::CostedProblem;
using testing::Offers;

Budget Decodings(std::int64_t decodings) {
  Budget budget;
  budget.iterations = decodings;
  return budget;
}

TEST(RandomKeyDecoder, MakesAValidPlanOfAnyKeys) {
  Random random(41);
  for (int round = 0; round < 200; ++round) {
    const CostedProblem problem(random);
    RandomKeyDecoder decoder(problem.costed);
    Assignment decoded;
    for (int draw = 0; draw < 10; ++draw) {
      std::vector<double> keys(decoder.keys());
      // Ties and the ends of the range as well.
      for (double& key : keys) key = draw == 0 ? 0.0 : draw == 1 ? 1.0 - 0x1p-53 : random.Uniform();
      decoder.Decode(keys, decoded);
      ASSERT_EQ(
          WhyNotValid(problem.graph, problem.machine, Plan{problem.costed.groups, decoded.placement, decoded.sequence}),
          std::nullopt);
    }
  }
}

TEST(RandomKeyDecoder, DecodesWhatItEncodes) {
  Random random(42);
  for (int round = 0; round < 200; ++round) {
    const CostedProblem problem(random);
    RandomKeyDecoder decoder(problem.costed);
    const Plan plan = testing::RandomPlan(random, problem.graph, problem.machine, problem.costed.groups);
    const Assignment assignment{plan.placement, plan.sequence};
    Assignment decoded;
    decoder.Decode(decoder.Encode(assignment), decoded);
    ASSERT_EQ(decoded, assignment);
  }
}

TEST(RandomKeyDecoder, FollowsThePriorities) {
  Random random(43);
  for (int round = 0; round < 50; ++round) {
    const CostedProblem problem(random);
    RandomKeyDecoder decoder(problem.costed);
    std::vector<double> keys(decoder.keys());
    for (double& key : keys) key = random.Uniform();
    Assignment decoded;
    decoder.Decode(keys, decoded);
    std::vector<char> done(decoded.sequence.size(), 0);
    for (const int taken : decoded.sequence) {
      for (int group = 0; group < problem.costed.num_groups; ++group) {
        const auto before = problem.costed.Predecessors(group);
        const bool ready = done[static_cast<std::size_t>(group)] == 0 &&
                           std::all_of(before.begin(), before.end(), [&done](const GroupEdge& edge) {
                             return done[static_cast<std::size_t>(edge.group)] != 0;
                           });
        if (ready) {
          ASSERT_LE(keys[static_cast<std::size_t>(group)], keys[static_cast<std::size_t>(taken)]);
        }
      }
      done[static_cast<std::size_t>(taken)] = 1;
    }
  }
}

TEST(Brkga, OffersItsWholeLastPopulationBestFirst) {
  Random random(44);
  testing::RandomProblemOptions options;
  options.memory = true;
  for (int round = 0; round < 20; ++round) {
    const CostedProblem problem(random, options);
    Simulator simulator(problem.costed);
    const std::vector<Assignment> answers = Offers(*MakeBrkga(), problem.costed, Decodings(300), Random(1));
    ASSERT_EQ(answers.size(), 100U);
    for (std::size_t i = 1; i < answers.size(); ++i) {
      const bool fits = FitsInMemory(problem.costed, answers[i]);
      const bool fitted = FitsInMemory(problem.costed, answers[i - 1]);
      ASSERT_GE(fitted, fits);
      if (fits == fitted) {
        ASSERT_LE(simulator.Makespan(answers[i - 1]), simulator.Makespan(answers[i]));
      }
    }
  }
}

TEST(Brkga, GrowsToTheSamplesAskedFor) {
  Random random(45);
  const CostedProblem problem(random);
  Budget budget = Decodings(0);
  budget.samples = 150;
  EXPECT_EQ(Offers(*MakeBrkga(), problem.costed, budget, Random(1)).size(), 150U);
  budget.samples = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(Offers(*MakeBrkga(), problem.costed, budget, Random(1)).size(), 100U);
}

TEST(Brkga, IsNeverWorseThanHeftAndImprovesWithGenerations) {
  Random random(46);
  testing::RandomProblemOptions options;
  options.most_ops = 60;
  double few = 0, many = 0, drawn = 0;
  for (int round = 0; round < 12; ++round) {
    const CostedProblem problem(random, options);
    Simulator simulator(problem.costed);
    const double heft = simulator.Makespan(Offers(*MakeHeuristic("heft"), problem.costed, {}, Random(1)).front());
    const auto best = [&](const BrkgaOptions& brkga, std::int64_t decodings) {
      return simulator.Makespan(Offers(*MakeBrkga(brkga), problem.costed, Decodings(decodings), Random(1)).front()) /
             heft;
    };
    EXPECT_LE(best({}, 200), 1);
    few += best({}, 200);
    many += best({}, 6000);
    BrkgaOptions blind;
    blind.start_from_heft = false;
    drawn += best(blind, 0);
    EXPECT_LE(best(blind, 3000), best(blind, 0));
  }
  EXPECT_LT(many, few);
  EXPECT_LT(few, drawn);
}

TEST(Brkga, StopsAtItsTimeLimitWithAtLeastOnePlan) {
  Random random(47);
  const CostedProblem problem(random);
  Budget budget;
  budget.seconds = 0.02;
  EXPECT_EQ(Offers(*MakeBrkga(), problem.costed, budget, Random(1)).size(), 100U);
  budget.seconds = 1e-9;
  EXPECT_GE(Offers(*MakeBrkga(), problem.costed, budget, Random(1)).size(), 1U);
}

TEST(Brkga, OffersTheEmptyPlanOfAnEmptyGraph) {
  const ComputationGraph graph{GraphData{}};
  Random random(48);
  const Machine machine = testing::RandomMachine(random);
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), {});
  EXPECT_EQ(Offers(*MakeBrkga(), costed, {}, Random(0)), std::vector<Assignment>{Assignment{}});
}

}  // namespace
}  // namespace millrace
