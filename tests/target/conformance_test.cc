// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "millrace/cost/analytic_cost.h"
#include "millrace/cost/costed_graph.h"
#include "millrace/engines/mpi/leader.h"
#include "millrace/engines/simgrid/flow_timeline.h"
#include "millrace/errors/errors.h"
#include "millrace/formats/model_graph.h"
#include "millrace/machine/detect.h"
#include "millrace/ranks/local_ranks.h"
#include "millrace/target/target.h"
#include "millrace/workloads/models.h"
#include "tests/reference/name_of_parameter.h"
#include "tests/reference/random_problem.h"

// What every target promises, asked of each.
namespace millrace {
namespace {

class EveryTarget : public ::testing::TestWithParam<std::string> {
 protected:
  EveryTarget() {
    ModelOptions options;
    options.hidden = 16;
    options.batch = 2;
    model_ = MakeModel("towers", options);
    graph_ = GraphOfModel(model_);
    machine_ = DetectHost();
    cost_ = MakeAnalyticCostModel(graph_, machine_);
    context_.graph = &graph_;
    context_.machine = &machine_;
    context_.model = &model_;
    context_.cost = cost_.get();
    if (GetParam().starts_with("mpi")) JoinRanks();
  }
  void SetUp() override {
    if (GetParam().find("simgrid") != std::string::npos && !HasSimGrid()) GTEST_SKIP() << "built without SimGrid";
  }
  Plan RandomPlan(Random& random) const {
    return testing::RandomPlan(random, graph_, machine_, testing::RandomGroups(random, graph_));
  }

  // This process alone.
  void JoinRanks() {
    mpi::RankSkills skills;
    skills.model = &model_;
    ranks_ = std::make_unique<mpi::Leader>(std::make_unique<mpi::Postman>(std::move(mpi::MakeLocalRanks(1).front())));
    ranks_->Assemble(mpi::FactsOfThisRank(), skills);
    context_.ranks = ranks_.get();
  }

  Model model_;
  ComputationGraph graph_;
  Machine machine_;
  std::unique_ptr<CostModel> cost_;
  TargetContext context_;
  std::unique_ptr<mpi::Leader> ranks_;
};

TEST_P(EveryTarget, IsNamedAsTheUserNamedIt) { EXPECT_EQ(MakeTarget(GetParam(), context_)->name(), GetParam()); }

TEST_P(EveryTarget, RunsSeveralLoadedPlansInAnyOrderAsOftenAsWanted) {
  Random random(1);
  const auto target = MakeTarget(GetParam(), context_);
  std::vector<std::unique_ptr<LoadedPlan>> plans;
  for (int i = 0; i < 3; ++i) plans.push_back(target->Load(RandomPlan(random)));
  std::vector<double> first;
  for (const auto& plan : plans) first.push_back(plan->Run());
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = plans.size(); i-- > 0;) {
      const double seconds = plans[i]->Run();
      EXPECT_TRUE(std::isfinite(seconds));
      EXPECT_GT(seconds, 0);
      if (target->deterministic()) {
        EXPECT_EQ(seconds, first[i]);
      }
    }
  }
}

TEST_P(EveryTarget, TellsWhenGroupsRanInAnOrderThatThePlanAllowsOrNothing) {
  Random random(4);
  const auto target = MakeTarget(GetParam(), context_);
  for (int round = 0; round < 5; ++round) {
    const Plan plan = RandomPlan(random);
    const auto loaded = target->Load(plan);
    const std::optional<TimedRun> run = loaded->RunTimed();
    if (!run) {
      EXPECT_FALSE(GetParam() == "cpu" || GetParam().starts_with("sim:"));
      continue;
    }
    const Timeline& timeline = run->timeline;
    ASSERT_EQ(timeline.start.size(), plan.groups.size());
    ASSERT_EQ(timeline.finish.size(), plan.groups.size());
    EXPECT_EQ(timeline.makespan, *std::max_element(timeline.finish.begin(), timeline.finish.end()));
    if (target->deterministic()) {
      EXPECT_EQ(run->seconds, loaded->Run());
    }
    constexpr double kClocksApart = 1e-6;
    const CostedGraph costed = MakeCostedGraph(*cost_, plan.groups);
    for (int group = 0; group < costed.num_groups; ++group) {
      const auto g = static_cast<std::size_t>(group);
      EXPECT_LE(0, timeline.start[g]);
      EXPECT_LE(timeline.start[g], timeline.finish[g]);
      EXPECT_LE(timeline.finish[g], run->seconds + kClocksApart);
      for (const GroupEdge& edge : costed.Predecessors(group))
        EXPECT_LE(timeline.finish[static_cast<std::size_t>(edge.group)], timeline.start[g] + kClocksApart);
    }
  }
}

TEST_P(EveryTarget, LetsAPlanOutliveTheTarget) {
  Random random(2);
  auto target = MakeTarget(GetParam(), context_);
  const auto plan = target->Load(RandomPlan(random));
  target.reset();
  EXPECT_GT(plan->Run(), 0);
}

TEST_P(EveryTarget, MayStandBesideAnotherOfItsKind) {
  Random random(3);
  const Plan plan = RandomPlan(random);
  const auto one = MakeTarget(GetParam(), context_);
  const auto other = MakeTarget(GetParam(), context_);
  const double seconds = one->Load(plan)->Run();
  const double again = other->Load(plan)->Run();
  EXPECT_GT(again, 0);
  if (one->deterministic()) {
    EXPECT_EQ(again, seconds);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, EveryTarget,
                         ::testing::Values("cpu", "sim:noise", "sim:bandwidth", "sim:latency", "sim:contention",
                                           "sim:greedy", "sim:greedy+contention", "sim:noise,sigma=0.1+contention",
                                           "sim:simgrid", "sim:latency+simgrid", "cmd:sh -c 'echo 0.25'",
                                           "cmd-sh:echo 0.5", "mpi", "mpi,emulate"),
                         testing::NameOfParameter);

}  // namespace
}  // namespace millrace
