// SPDX-License-Identifier: Apache-2.0
#include "millrace/target/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/simulate/contention.h"
#include "millrace/simulate/timeline.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

class SimulatedTargets : public ::testing::Test {
 protected:
  SimulatedTargets() {
    Random random(11);
    testing::RandomProblemOptions options;
    options.gangs = options.group_seconds = options.colocate = false;
    do {
      graph_ = testing::RandomGraph(random, options);
    } while (graph_.num_ops() < 16);
    machine_ = testing::RandomMachine(random, options);
    while (machine_.devices.size() < 3) machine_ = testing::RandomMachine(random, options);
    cost_ = MakeAnalyticCostModel(graph_, machine_);
    context_.graph = &graph_;
    context_.machine = &machine_;
    context_.cost = cost_.get();
    for (int i = 0; i < 20; ++i)
      plans_.push_back(testing::RandomPlan(random, graph_, machine_, testing::RandomGroups(random, graph_)));
  }

  double Seconds(const std::string& words, const Plan& plan) const {
    return MakeTarget(words, context_)->Load(plan)->Run();
  }
  double Proxy(const Plan& plan) const {
    return MakeTimeline(MakeCostedGraph(*cost_, plan.groups), {plan.placement, plan.sequence}).makespan;
  }
  std::string Complaint(const std::string& words) const {
    try {
      MakeTarget(words, context_);
    } catch (const InvalidInput& complaint) {
      return complaint.what();
    }
    return "";
  }

  ComputationGraph graph_;
  Machine machine_;
  std::unique_ptr<CostModel> cost_;
  TargetContext context_;
  std::vector<Plan> plans_;
};

TEST_F(SimulatedTargets, KeepTheTargetsPromises) {
  for (const std::string words : {"sim:noise", "sim:bandwidth", "sim:latency", "sim:contention",
                                  "sim:noise,sigma=0.1+contention", "sim:latency+noise+contention+bandwidth"}) {
    SCOPED_TRACE(words);
    const auto target = MakeTarget(words, context_);
    EXPECT_EQ(target->name(), words);
    EXPECT_TRUE(target->deterministic());
    const auto first = target->Load(plans_[0]);
    const auto second = target->Load(plans_[1]);
    const double seconds = first->Run();
    EXPECT_TRUE(std::isfinite(seconds));
    EXPECT_GT(seconds, 0);
    EXPECT_EQ(second->Run(), Seconds(words, plans_[1]));
    EXPECT_EQ(first->Run(), seconds);
  }
}

TEST_F(SimulatedTargets, DifferFromTheProxyAndFromEachOther) {
  for (const std::string words : {"sim:noise", "sim:bandwidth", "sim:latency", "sim:contention"}) {
    int different = 0;
    for (const Plan& plan : plans_) different += Seconds(words, plan) != Proxy(plan) ? 1 : 0;
    EXPECT_GT(different, 5) << words;
  }
}

TEST_F(SimulatedTargets, NoiseOfNothingIsTheProxy) {
  for (const Plan& plan : plans_) EXPECT_EQ(Seconds("sim:noise,sigma=0", plan), Proxy(plan));
}

TEST_F(SimulatedTargets, NoiseFollowsTheSeedOfTheContextUnlessItHasItsOwn) {
  const double with_zero = Seconds("sim:noise", plans_[0]);
  EXPECT_EQ(Seconds("sim:noise,seed=0", plans_[0]), with_zero);
  EXPECT_NE(Seconds("sim:noise,seed=1", plans_[0]), with_zero);
  context_.seed = 1;
  EXPECT_EQ(Seconds("sim:noise,seed=0", plans_[0]), with_zero);
  EXPECT_EQ(Seconds("sim:noise", plans_[0]), Seconds("sim:noise,seed=1", plans_[0]));
}

TEST_F(SimulatedTargets, ContentionIsTheContendedTimeline) {
  for (const Plan& plan : plans_) {
    EXPECT_EQ(Seconds("sim:contention", plan),
              ContendedTimeline(MakeCostedGraph(*cost_, plan.groups), {plan.placement, plan.sequence}).makespan);
  }
}

TEST_F(SimulatedTargets, TakeTheSameTimesWhateverGroupsWereLoadedBefore) {
  const auto target = MakeTarget("sim:noise+contention", context_);
  for (int round = 0; round < 2; ++round) {
    for (const Plan& plan : plans_) {
      EXPECT_EQ(target->Load(plan)->Run(), Seconds("sim:noise+contention", plan));
      EXPECT_EQ(target->Load(plan)->Run(), Seconds("sim:noise+contention", plan));
    }
  }
}

TEST_F(SimulatedTargets, WorkWithoutACostModelOfTheirOwnAccord) {
  const double seconds = Seconds("sim:bandwidth", plans_[0]);
  context_.cost = nullptr;
  EXPECT_EQ(Seconds("sim:bandwidth", plans_[0]), seconds);
}

TEST_F(SimulatedTargets, AreRefusedInOneLineWhereTheWordsMakeNoSense) {
  for (const std::string words : {"sim:",
                                  "sim:nose",
                                  "sim:noise+",
                                  "sim:noise+noise",
                                  "sim:noise,sigma",
                                  "sim:noise,sigma=",
                                  "sim:noise,sigma=x",
                                  "sim:noise,sigma=-1",
                                  "sim:noise,sigma=nan",
                                  "sim:noise,sigma=1e999",
                                  "sim:noise,sigma=31",
                                  "sim:noise,seed=1.5",
                                  "sim:noise,a=1",
                                  "sim:bandwidth,b=1",
                                  "sim:contention,a=1",
                                  "sim:noise,",
                                  "sim:+noise",
                                  "cpu2",
                                  "",
                                  "cmd:",
                                  "cmd:  ",
                                  "cmd:'open",
                                  "cmd",
                                  "cmd,timeout=3",
                                  "cmd,timeout=3:",
                                  "cmd,:true",
                                  "cmd,timeout:true",
                                  "cmd,timeout=:true",
                                  "cmd,timeout=0:true",
                                  "cmd,timeout=-1:true",
                                  "cmd,timeout=nan:true",
                                  "cmd,timeout=inf:true",
                                  "cmd,timeout=3s:true",
                                  "cmd,timeout=3,timeout=4:true",
                                  "cmd,wait=3:true",
                                  "cmd-shell:true",
                                  "cmd-sh,timeout=0:true",
                                  "cmd-sh:",
                                  "cmd-sh: \t",
                                  "sim"}) {
    const std::string line = Complaint(words);
    EXPECT_FALSE(line.empty()) << words;
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  }
  EXPECT_THAT(Complaint("sim:noise,sigma=x"), ::testing::HasSubstr("sigma needs a number, not 'x'"));
  EXPECT_THAT(Complaint("sim:noise,a=1"), ::testing::HasSubstr("sigma and seed"));
  EXPECT_THAT(Complaint("sim:nose"), ::testing::HasSubstr("noise, bandwidth, latency, contention"));
  context_.machine = nullptr;
  EXPECT_FALSE(Complaint("sim:noise").empty());
  EXPECT_FALSE(Complaint("cmd:true").empty());
}

TEST_F(SimulatedTargets, ReadAPlusInsideANumberAsPartOfIt) {
  EXPECT_EQ(Seconds("sim:bandwidth,a=1e+0+contention", plans_[0]), Seconds("sim:contention+bandwidth,a=1", plans_[0]));
}

// Two ops in a row, 3 s and 1 s anywhere, 4 bytes from one to the next: the mean duration is 2 s, the mean transfer
// 4 bytes, so a is 1 s per byte.
TEST(SimulatedTargetMeans, AreThoseOfTheSingleOpGraph) {
  GraphData data;
  data.ops.resize(2);
  data.ops[0].seconds.everywhere = 3;
  data.ops[1].seconds.everywhere = 1;
  data.tensors = {{"a", 0, {1}, 4, false}, {"control", 0, {1}, 0, false}, {"input", -1, {0}, 100, false}};
  const ComputationGraph graph(std::move(data));
  Machine machine;
  for (int d = 0; d < 2; ++d) machine.devices.push_back({"d", "cpu", {d}, 1, 1, std::nullopt, 0});
  TargetContext context;
  context.graph = &graph;
  context.machine = &machine;
  const auto seconds = [&](const std::string& words, int second_device) {
    return MakeTarget(words, context)->Load({{{0}, {1}}, {0, second_device}, {0, 1}})->Run();
  };
  EXPECT_DOUBLE_EQ(seconds("sim:bandwidth", 1), 8.0);
  EXPECT_DOUBLE_EQ(seconds("sim:bandwidth", 0), 4.0);
  EXPECT_DOUBLE_EQ(seconds("sim:bandwidth,a=0.5", 1), 6.0);
  EXPECT_DOUBLE_EQ(seconds("sim:latency", 1), 4 + 4 + 0.4);
  EXPECT_DOUBLE_EQ(seconds("sim:latency,b=1,a=0", 1), 5.0);
  EXPECT_DOUBLE_EQ(seconds("sim:latency+bandwidth", 1), 4 + 4 + 4.4);
}

}  // namespace
}  // namespace millrace
