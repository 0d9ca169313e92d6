// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/go/experts.h"

#include <gtest/gtest.h>

#include <string>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/fusion/greedy_fusion.h"
#include "millrace/plan/verify.h"
#include "millrace/simulate/contention.h"
#include "tests/reference/temporary_folder.h"

namespace millrace {
namespace {

constexpr GoExpertOptions kShort = {.searches = 2, .evaluations = 60};
constexpr int kSmallCase = 5;  // a WaveNet of few hundred ops

class GoExperts : public ::testing::Test {
 protected:
  GoExperts()
      : drawn_(DrawGoCase(0, GoCasePurpose::kTraining, kSmallCase)),
        graph_(MakeGoWorkload(drawn_.workload)),
        file_(folder_.Path("experts.safetensors")) {}

  GoCase drawn_;
  ComputationGraph graph_;
  testing::TemporaryFolder folder_;
  std::string file_;
};

TEST_F(GoExperts, HaveValidPlansThatTakeWhatTheySayAndComeBestFirst) {
  const GoExpertise plans = FindExpertise(0, GoCasePurpose::kTraining, kSmallCase, kShort);
  ASSERT_EQ(plans.size(), 2u);
  EXPECT_LE(plans[0].seconds, plans[1].seconds);
  const CostedGraph costed =
      MakeCostedGraph(*MakeAnalyticCostModel(graph_, drawn_.machine, Proxy::kContended), GreedyFusion(graph_));
  for (const GoExpertPlan& plan : plans) {
    Assignment assignment{std::vector<int>(costed.groups.size()), std::vector<int>(costed.groups.size())};
    for (std::size_t group = 0; group < costed.groups.size(); ++group) {
      const auto first = static_cast<std::size_t>(costed.groups[group].front());
      assignment.placement[group] = plan.device[first];
      assignment.sequence[static_cast<std::size_t>(plan.turn[first])] = static_cast<int>(group);
    }
    VerifyPlan(graph_, drawn_.machine, {costed.groups, assignment.placement, assignment.sequence});
    EXPECT_DOUBLE_EQ(ContendedTimeline(costed, assignment).makespan, plan.seconds);
  }
}

TEST_F(GoExperts, ComeBackFromTheirFileAsTheyWere) {
  const GoExpertise plans = FindExpertise(0, GoCasePurpose::kTraining, kSmallCase, kShort);
  WriteExpertise(file_, drawn_, plans);
  const GoExpertise read = ReadExpertise(file_, drawn_, graph_);
  ASSERT_EQ(read.size(), plans.size());
  for (std::size_t i = 0; i < plans.size(); ++i) {
    EXPECT_EQ(read[i].seconds, plans[i].seconds);
    EXPECT_EQ(read[i].device, plans[i].device);
    EXPECT_EQ(read[i].turn, plans[i].turn);
  }
}

TEST_F(GoExperts, OfAnotherCaseAreRefusedInOneLine) {
  WriteExpertise(file_, drawn_, {});
  const GoCase other = DrawGoCase(0, GoCasePurpose::kTraining, kSmallCase + 6);
  try {
    ReadExpertise(file_, other, MakeGoWorkload(other.workload));
    FAIL() << "it was read";
  } catch (const InvalidInput& error) {
    const std::string line = error.what();
    EXPECT_NE(line.find(file_), std::string::npos);
    EXPECT_NE(line.find("another graph or machine"), std::string::npos);
    EXPECT_EQ(line.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace millrace
