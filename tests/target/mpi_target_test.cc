// SPDX-License-Identifier: Apache-2.0
#include "millrace/target/mpi_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "millrace/cost/analytic_cost.h"
#include "millrace/engines/mpi/leader.h"
#include "millrace/errors/errors.h"
#include "millrace/machine/preset.h"
#include "millrace/ranks/local_ranks.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(MpiTarget, IsNamedWithOptionsThatItKnows) {
  EXPECT_TRUE(NamesMpi("mpi"));
  EXPECT_TRUE(NamesMpi("mpi,emulate"));
  EXPECT_FALSE(NamesMpi("mpix"));
  EXPECT_FALSE(NamesMpi("sim:mpi"));
  EXPECT_FALSE(ParseMpiTarget("mpi").emulate);
  EXPECT_TRUE(ParseMpiTarget("mpi,links=given,emulate").emulate);
  EXPECT_TRUE(ParseMpiTarget("mpi,links=given").links_given);
  EXPECT_THAT([] { ParseMpiTarget("mpi,slowly"); }, ThrowsMessage<InvalidInput>(HasSubstr("no option 'slowly'")));
}

class MpiTargetTest : public ::testing::Test {
 protected:
  MpiTargetTest() {
    GraphData data;
    data.ops.resize(2);
    for (Op& op : data.ops) op.seconds.everywhere = 0.002;
    data.tensors = {{"t", 0, {1}, 100, false}};
    graph_ = ComputationGraph(std::move(data));
    context_.graph = &graph_;
  }
  void TakeMachine(const char* words) {
    machine_ = *MachinePreset(words);
    cost_ = MakeAnalyticCostModel(graph_, machine_);
    context_.machine = &machine_;
    context_.cost = cost_.get();
  }
  void JoinRanks() {
    ranks_ = std::make_unique<mpi::Leader>(std::make_unique<mpi::Postman>(std::move(mpi::MakeLocalRanks(1).front())));
    ranks_->Assemble(mpi::FactsOfThisRank(), {});
    context_.ranks = ranks_.get();
  }

  ComputationGraph graph_;
  Machine machine_;
  std::unique_ptr<CostModel> cost_;
  TargetContext context_;
  std::unique_ptr<mpi::Leader> ranks_;
};

TEST_F(MpiTargetTest, SaysHowToStartItWithoutRanks) {
  TakeMachine("homogeneous:1");
  EXPECT_THAT([&] { MakeTarget("mpi", context_); }, ThrowsMessage<InvalidInput>(HasSubstr("mpirun -n 2")));
}

TEST_F(MpiTargetTest, RefusesMoreRanksThanThereAreAndGraphsThatItCannotExecute) {
  TakeMachine("homogeneous:3");
  JoinRanks();
  EXPECT_THAT([&] { MakeTarget("mpi,emulate", context_); },
              ThrowsMessage<InvalidInput>(HasSubstr("takes 3 ranks, and there is 1; start it with mpirun -n 3")));
  TakeMachine("homogeneous:1");
  EXPECT_THAT([&] { MakeTarget("mpi", context_); }, ThrowsMessage<InvalidInput>(HasSubstr("take mpi,emulate")));
}

TEST_F(MpiTargetTest, EmulatesByTheCostModelItWasToldLast) {
  TakeMachine("homogeneous:1");
  JoinRanks();
  const auto target = MakeTarget("mpi,emulate", context_);
  const Plan plan{{{0}, {1}}, {0, 0}, {0, 1}};
  EXPECT_GE(target->Load(plan)->Run(), 0.004);
  GraphData slower = graph_.data();
  for (Op& op : slower.ops) op.seconds.everywhere = 0.02;
  const ComputationGraph graph(std::move(slower));
  const auto cost = MakeAnalyticCostModel(graph, machine_);
  target->Reprice(*cost);
  EXPECT_GE(target->Load(plan)->Run(), 0.04);
}

}  // namespace
}  // namespace millrace
