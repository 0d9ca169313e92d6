// SPDX-License-Identifier: Apache-2.0
#include "millrace/planning/best_of.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/machine/preset.h"
#include "millrace/simulate/timeline.h"

namespace millrace {
namespace {

// Offers what it is given, in order.
class ScriptedFusions final : public Planner {
 public:
  explicit ScriptedFusions(std::vector<ProposedPlan> offers)
      : Planner({.name = "scripted", .chooses_fusion = true}), offers_(std::move(offers)) {}

  void Propose(const PlanningProblem&, const Budget&, Random&, const Offer& offer) const override {
    for (const ProposedPlan& plan : offers_) offer(plan);
  }

 private:
  std::vector<ProposedPlan> offers_;
};

// Four ops in a row that take 1, 2, 3 and 4 s; two of them in a group save nothing.
ComputationGraph FourInARow() {
  GraphData data;
  data.ops.resize(4);
  for (int i = 0; i < 4; ++i) {
    data.ops[static_cast<std::size_t>(i)].seconds.everywhere = i + 1;
    if (i > 0) data.tensors.push_back({"t", i - 1, {i}, 0, false});
  }
  return ComputationGraph(std::move(data));
}

class RunPlannerWithOpenFusion : public ::testing::Test {
 protected:
  std::shared_ptr<const CostedGraph> Priced(FusionGroups groups) const {
    return std::make_shared<const CostedGraph>(MakeCostedGraph(*model_, std::move(groups)));
  }

  BestOf Run(std::vector<ProposedPlan> offers, std::size_t most) const {
    Random random(0);
    return RunPlanner(ScriptedFusions(std::move(offers)), PlanningProblem(*model_), {}, random, most);
  }

  const ComputationGraph graph_ = FourInARow();
  const std::unique_ptr<const CostModel> model_ = MakeAnalyticCostModel(graph_, *MachinePreset("homogeneous:2"));
};

TEST_F(RunPlannerWithOpenFusion, KeepsTheGroupsOfEachPlanAndTimesItByThese) {
  const auto single = Priced(SingleOpGroups(graph_));
  const auto pair = Priced({{0, 1}, {2}, {3}});
  const BestOf best =
      Run({{Assignment{{0, 1, 0}, {0, 1, 2}}, pair}, {Assignment{{0, 0, 0, 0}, {0, 1, 2, 3}}, single}}, 5);
  EXPECT_EQ(best.offered, 2);
  ASSERT_EQ(best.kept.size(), 2u);
  for (const RatedAssignment& plan : best.kept) {
    ASSERT_EQ(plan.assignment.placement.size(), plan.costed->groups.size());
    EXPECT_EQ(plan.makespan, Simulator(*plan.costed).Makespan(plan.assignment));
    EXPECT_DOUBLE_EQ(plan.makespan, 10);
  }
  EXPECT_EQ(best.kept[0].costed, pair) << "equal ones as offered";
  EXPECT_EQ(best.kept[1].costed, single);
}

TEST_F(RunPlannerWithOpenFusion, TellsPlansApartByTheirGroups) {
  const Assignment alike{{0, 0, 0}, {0, 1, 2}};
  const auto front = Priced({{0, 1}, {2}, {3}}), front_again = Priced({{0, 1}, {2}, {3}}),
             back = Priced({{0}, {1}, {2, 3}});
  const BestOf best = Run({{alike, front}, {alike, back}, {alike, front_again}, {alike, back}}, 5);
  EXPECT_EQ(best.offered, 4);
  ASSERT_EQ(best.kept.size(), 2u);
  EXPECT_EQ(best.kept[0].costed, front);
  EXPECT_EQ(best.kept[1].costed, back);
}

TEST_F(RunPlannerWithOpenFusion, KeepsNoMoreThanItIsAskedFor) {
  const auto single = Priced(SingleOpGroups(graph_));
  const auto pair = Priced({{0, 1}, {2}, {3}});
  const std::vector<ProposedPlan> offers = {{Assignment{{0, 1, 0, 1}, {0, 1, 2, 3}}, single},
                                            {Assignment{{0, 0, 0}, {0, 1, 2}}, pair}};
  EXPECT_EQ(Run(offers, 1).kept.size(), 1u);
  EXPECT_TRUE(Run(offers, 0).kept.empty());
  EXPECT_EQ(Run(offers, 0).offered, 2);
}

TEST_F(RunPlannerWithOpenFusion, IsGivenAProxyWhichGroupsAloneDoNotHave) {
  const auto single = Priced(SingleOpGroups(graph_));
  EXPECT_TRUE(PlanningProblem(*model_).fusion_open());
  EXPECT_FALSE(PlanningProblem(*single).fusion_open());
  EXPECT_EQ(&PlanningProblem(*model_, *single).proxy(), model_.get());
  EXPECT_EQ(&PlanningProblem(*model_).WithGroups(*single).costed(), single.get());
  EXPECT_EQ(&PlanningProblem(*model_).WithGroups(*single).proxy(), model_.get());
  EXPECT_THROW(PlanningProblem(*single).proxy(), InvalidInput);
}

}  // namespace
}  // namespace millrace
