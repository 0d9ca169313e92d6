// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/heuristics/chained_source.h"
#include "millrace/plan/verify.h"
#include "millrace/policy/message_passing.h"
#include "millrace/simulate/bounds.h"
#include "millrace/simulate/timeline.h"
#include "tests/reference/offers.h"
#include "tests/reference/random_problem.h"
#include "tests/reference/slow_simulator.h"

namespace millrace {
namespace {

using testing::Offers;

// Weights nobody trained, so that the learned sources can be asked in any build.
class Sources : public ::testing::Test {
 protected:
  void SetUp() override {
    Random random(3);
    path_ = (std::filesystem::temp_directory_path() /
             ("millrace_sources_" + std::to_string(::testing::UnitTest::GetInstance()->random_seed()) +
              ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".safetensors"))
                .string();
    WriteWeights(path_, InitialMessagePassingWeights(random));
    settings_.weights = path_;
  }
  void TearDown() override { std::filesystem::remove(path_); }

  std::string path_;
  SourceSettings settings_;
};

TEST_F(Sources, OfferValidPlansWhichTheSlowSimulatorPricesAlike) {
  Random random(11);
  for (int round = 0; round < 40; ++round) {
    const ComputationGraph graph = testing::RandomGraph(random);
    const Machine machine = testing::RandomMachine(random);
    const auto model = MakeAnalyticCostModel(graph, machine);
    const CostedGraph costed = MakeCostedGraph(*model, testing::RandomGroups(random, graph));
    SourceBudget budget;
    budget.samples = 3;
    budget.iterations = 400;
    for (const std::string& name : SourceNames()) {
      const std::vector<Assignment> answers = Offers(*MakeSource(name, settings_), costed, budget, Random(5));
      ASSERT_FALSE(answers.empty()) << name;
      for (const Assignment& answer : answers) {
        const Plan plan{costed.groups, answer.placement, answer.sequence};
        ASSERT_EQ(WhyNotValid(graph, machine, plan), std::nullopt) << name;
        const double slow = testing::SlowSimulate(graph, machine, plan).makespan;
        ASSERT_NEAR(MakeTimeline(costed, answer).makespan, slow, 1e-9 * slow) << name;
        ASSERT_GE(slow, LowerBound(costed) * (1 - 1e-9)) << name;
      }
      EXPECT_EQ(answers, Offers(*MakeSource(name, settings_), costed, budget, Random(5))) << name;
    }
  }
}

TEST_F(Sources, TheSearchFromSamplesIsNowhereBehindHeft) {
  int better = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const ComputationGraph graph = testing::RandomGraph(random);
    const auto model = MakeAnalyticCostModel(graph, testing::RandomMachine(random));
    const CostedGraph costed = MakeCostedGraph(*model, SingleOpGroups(graph));
    Simulator simulator(costed);
    const auto least = [&](const CandidateSource& source) {
      SourceBudget budget;
      budget.samples = 4;
      budget.iterations = 100;
      double makespan = std::numeric_limits<double>::infinity();
      for (const Assignment& answer : Offers(source, costed, budget, Random(seed)))
        makespan = std::min(makespan, simulator.Makespan(answer));
      return makespan;
    };
    const double heft = least(*MakeHeftReference());
    const double search = least(*MakeSource("gflownet+search", settings_));
    EXPECT_LE(search, heft);
    better += search < heft;
  }
  EXPECT_GT(better, 5);
}

TEST_F(Sources, RefuseAnUnknownNameAndListTheOthers) {
  try {
    MakeSource("astrology");
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_THAT(error.what(), ::testing::AllOf(::testing::HasSubstr("astrology"), ::testing::HasSubstr("heft"),
                                               ::testing::HasSubstr("anneal"), ::testing::HasSubstr("gflownet")));
  }
}

TEST_F(Sources, RefuseWeightsThatAreNone) {
  settings_.weights = path_ + ".missing";
  EXPECT_THROW(MakeSource("gflownet", settings_), InvalidInput);
}

}  // namespace
}  // namespace millrace
