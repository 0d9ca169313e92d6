// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/plan/verify.h"
#include "millrace/policy/message_passing.h"
#include "millrace/simulate/bounds.h"
#include "millrace/simulate/timeline.h"
#include "tests/reference/random_problem.h"
#include "tests/reference/slow_simulator.h"

namespace millrace {
namespace {

std::vector<Assignment> Answers(const CandidateSource& source, const CostedGraph& costed, const SourceBudget& budget,
                                std::uint64_t seed) {
  std::vector<Assignment> answers;
  Random random(seed);
  source.Propose(costed, budget, random, [&answers](Assignment offered) { answers.push_back(std::move(offered)); });
  return answers;
}

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
      const std::vector<Assignment> answers = Answers(*MakeSource(name, settings_), costed, budget, 5);
      ASSERT_FALSE(answers.empty()) << name;
      for (const Assignment& answer : answers) {
        const Plan plan{costed.groups, answer.placement, answer.sequence};
        ASSERT_EQ(WhyNotValid(graph, machine, plan), std::nullopt) << name;
        const double slow = testing::SlowSimulate(graph, machine, plan).makespan;
        ASSERT_NEAR(MakeTimeline(costed, answer).makespan, slow, 1e-9 * slow) << name;
        ASSERT_GE(slow, LowerBound(costed) * (1 - 1e-9)) << name;
      }
      EXPECT_EQ(answers, Answers(*MakeSource(name, settings_), costed, budget, 5)) << name;
    }
  }
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
