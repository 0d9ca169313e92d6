// SPDX-License-Identifier: Apache-2.0
#include "millrace/fusion/fusion_choices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <map>
#include <string>

#include "millrace/cost/analytic_cost.h"
#include "millrace/cost/costed_graph.h"
#include "millrace/formats/model_graph.h"
#include "millrace/fusion/greedy_fusion.h"
#include "millrace/plan/verify.h"
#include "millrace/workloads/models.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

using testing::RandomProblemOptions;

FusionGroups Sorted(FusionGroups groups) {
  for (std::vector<OpId>& group : groups) std::sort(group.begin(), group.end());
  std::sort(groups.begin(), groups.end());
  return groups;
}

// Every row of answers with the groups it ends in.
void EnumerateAnswers(const FusionState& state, std::vector<std::pair<std::vector<char>, FusionGroups>>& ends) {
  if (state.done()) {
    ends.emplace_back(state.answers(), state.groups());
    return;
  }
  FusionState accepted = state, declined = state;
  accepted.Accept();
  declined.Decline();
  EnumerateAnswers(accepted, ends);
  EnumerateAnswers(declined, ends);
}

bool CanBePriced(const CostModel& model, const FusionGroups& groups) {
  try {
    MakeCostedGraph(model, groups);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

// Every partition of ops into groups that some plan on this machine may have, by trying all partitions.
void EnumerateLegal(const CostModel& model, int next, FusionGroups& partial, std::vector<FusionGroups>& legal) {
  const std::span<const OpId> order = model.graph().topological_order();
  if (next == model.graph().num_ops()) {
    if (!WhyNotGroups(model.graph(), partial) && CanBePriced(model, partial)) legal.push_back(Sorted(partial));
    return;
  }
  const OpId op = order[static_cast<std::size_t>(next)];
  for (std::size_t g = 0; g < partial.size(); ++g) {
    partial[g].push_back(op);
    EnumerateLegal(model, next + 1, partial, legal);
    partial[g].pop_back();
  }
  partial.push_back({op});
  EnumerateLegal(model, next + 1, partial, legal);
  partial.pop_back();
}

TEST(FusionChoices, EveryLegalPartitionIsTheEndOfExactlyOneRowOfAnswers) {
  RandomProblemOptions options;
  options.most_ops = 8;
  options.most_devices = 3;
  options.group_seconds = false;
  std::size_t most = 0, fused_pairs = 0;
  for (int seed = 0; seed < 250; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const ComputationGraph graph = testing::RandomGraph(random, options);
    const Machine machine = testing::RandomMachine(random, options);
    const auto model = MakeAnalyticCostModel(graph, machine);
    const FusionProblem problem(*model);
    std::vector<std::pair<std::vector<char>, FusionGroups>> ends;
    EnumerateAnswers(FusionState(problem), ends);
    std::vector<FusionGroups> reached, legal;
    for (const auto& [answers, groups] : ends) {
      reached.push_back(Sorted(groups));
      EXPECT_EQ(AnswersFor(problem, groups), answers) << "seed " << seed;
    }
    FusionGroups partial;
    EnumerateLegal(*model, 0, partial, legal);
    std::sort(reached.begin(), reached.end());
    std::sort(legal.begin(), legal.end());
    EXPECT_EQ(reached, legal) << "seed " << seed;
    most = std::max(most, legal.size());
    fused_pairs += legal.size() - 1;
  }
  EXPECT_GT(most, 8u);
  EXPECT_GT(fused_pairs, 250u);
}

TEST(FusionChoices, StatedTimesOfGroupsThatCloseDevicesLeaveTheRestDistinctAndLegal) {
  RandomProblemOptions options;
  options.most_ops = 8;
  for (int seed = 0; seed < 250; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const ComputationGraph graph = testing::RandomGraph(random, options);
    const Machine machine = testing::RandomMachine(random, options);
    const auto model = MakeAnalyticCostModel(graph, machine);
    const FusionProblem problem(*model);
    std::vector<std::pair<std::vector<char>, FusionGroups>> ends;
    EnumerateAnswers(FusionState(problem), ends);
    std::map<FusionGroups, std::vector<char>> by_groups;
    for (const auto& [answers, groups] : ends) {
      EXPECT_EQ(WhyNotGroups(graph, groups), std::nullopt) << "seed " << seed;
      EXPECT_TRUE(CanBePriced(*model, groups)) << "seed " << seed;
      EXPECT_TRUE(by_groups.emplace(Sorted(groups), answers).second) << "seed " << seed;
      EXPECT_EQ(AnswersFor(problem, groups), answers) << "seed " << seed;
    }
  }
}

TEST(FusionChoices, DecliningEverythingLeavesEveryOpSingle) {
  for (int seed = 0; seed < 50; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const ComputationGraph graph = testing::RandomGraph(random);
    const auto model = MakeAnalyticCostModel(graph, testing::RandomMachine(random));
    const FusionProblem problem(*model);
    FusionState state(problem);
    while (!state.done()) state.Decline();
    EXPECT_EQ(Sorted(state.groups()), SingleOpGroups(graph));
    state.Clear();
    while (!state.done()) state.Accept();
    EXPECT_EQ(AnswersFor(problem, SingleOpGroups(graph)),
              std::vector<char>(AnswersFor(problem, SingleOpGroups(graph))->size(), 0));
  }
}

TEST(FusionChoices, RandomAnswersOnLargerGraphsGiveLegalGroupsThatTellTheirAnswers) {
  RandomProblemOptions options;
  options.most_ops = 120;
  int merged = 0;
  for (int seed = 0; seed < 150; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const ComputationGraph graph = testing::RandomGraph(random, options);
    const auto model = MakeAnalyticCostModel(graph, testing::RandomMachine(random, options));
    const FusionProblem problem(*model);
    FusionState state(problem);
    for (int walk = 0; walk < 3; ++walk) {
      state.Clear();
      while (!state.done()) {
        EXPECT_TRUE(std::is_sorted(state.union_ops().begin(), state.union_ops().end(),
                                   [&problem](OpId a, OpId b) { return problem.position(a) < problem.position(b); }));
        if (random.Uniform() < 0.25 * (walk + 2)) {
          state.Accept();
        } else {
          state.Decline();
        }
      }
      const FusionGroups groups = state.groups();
      merged += graph.num_ops() - static_cast<int>(groups.size());
      EXPECT_EQ(WhyNotGroups(graph, groups), std::nullopt) << "seed " << seed;
      EXPECT_TRUE(CanBePriced(*model, groups)) << "seed " << seed;
      EXPECT_EQ(AnswersFor(problem, groups), state.answers()) << "seed " << seed;
    }
  }
  EXPECT_GT(merged, 1000);
}

ComputationGraph GraphOf(const std::vector<std::pair<std::string, std::vector<int>>>& ops) {
  GraphData data;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    Op op;
    op.name = "op" + std::to_string(i);
    op.type = ops[i].first;
    data.ops.push_back(op);
    Tensor made;
    made.producer = static_cast<OpId>(i);
    made.bytes = 8;
    for (const int read : ops[i].second)
      data.tensors[static_cast<std::size_t>(read)].consumers.push_back(static_cast<OpId>(i));
    data.tensors.push_back(made);
  }
  return ComputationGraph(std::move(data));
}

Machine OneDevice() {
  Machine machine;
  machine.devices.push_back({"d", "cpu", {0}, 1e9, 1e9, {}, 0});
  return machine;
}

TEST(FusionChoices, GroupsOfThePassByRuleAreAmongThem) {
  ModelOptions options;
  options.draw_weights = false;
  for (const std::string& name : ModelNames()) {
    const ComputationGraph graph = GraphOfModel(MakeModel(name, options));
    const auto model = MakeAnalyticCostModel(graph, OneDevice());
    const FusionProblem problem(*model);
    const FusionGroups greedy = GreedyFusion(graph);
    const auto answers = AnswersFor(problem, greedy);
    ASSERT_TRUE(answers.has_value()) << name;
    EXPECT_EQ(std::count(answers->begin(), answers->end(), 1),
              graph.num_ops() - static_cast<std::ptrdiff_t>(greedy.size()));
  }
}

TEST(FusionChoices, WhatWasDeclinedIsNotJoinedInARoundaboutWay) {
  const ComputationGraph graph = GraphOf({{"Conv", {}}, {"Relu", {0}}, {"Add", {0, 1}}});
  const auto model = MakeAnalyticCostModel(graph, OneDevice());
  const FusionProblem problem(*model);
  FusionState state(problem);
  EXPECT_EQ(state.offer().consumer, 1);
  state.Decline();
  EXPECT_EQ(state.offer().producer, 1);
  state.Accept();
  EXPECT_TRUE(state.done()) << "the convolution would join the group that the Relu is in";
  EXPECT_EQ(state.groups(), (FusionGroups{{0}, {1, 2}}));
}

TEST(FusionChoices, AMergeThatWouldMakeAGroupWaitForItselfIsNotOffered) {
  const ComputationGraph graph = GraphOf({{"Relu", {}}, {"Split", {0}}, {"Add", {0, 1}}});
  const auto model = MakeAnalyticCostModel(graph, OneDevice());
  const FusionProblem problem(*model);
  EXPECT_TRUE(FusionState(problem).done());
}

TEST(FusionChoices, GroupsThatNoAnswersLeadToAreToldApart) {
  // The two Relu share no tensor.
  const ComputationGraph graph = GraphOf({{"Split", {}}, {"Relu", {0}}, {"Relu", {0}}});
  const auto model = MakeAnalyticCostModel(graph, OneDevice());
  EXPECT_EQ(AnswersFor(FusionProblem(*model), {{0}, {1, 2}}), std::nullopt);
}

}  // namespace
}  // namespace millrace
