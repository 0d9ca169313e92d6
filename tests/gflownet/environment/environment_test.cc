// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/environment/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "millrace/gflownet/environment/backward.h"
#include "millrace/gflownet/environment/graph_features.h"
#include "millrace/gflownet/environment/reward.h"
#include "millrace/machine/preset.h"
#include "millrace/plan/chain_graph.h"
#include "millrace/plan/verify.h"
#include "millrace/workloads/random_graph.h"
#include "tests/gflownet/environment/random_environment.h"
#include "tests/reference/slow_simulator.h"

namespace millrace {
namespace {

using testing::EnvironmentProblem;
using testing::RandomAction;
using testing::RandomProblemOptions;

constexpr int kProblems = 150;

RandomProblemOptions TinyOptions() {
  RandomProblemOptions options;
  options.most_ops = 5;
  options.most_devices = 3;
  return options;
}

std::set<std::int32_t> RemovableByDefinition(const State& state) {
  const CostedGraph& costed = state.environment().costed();
  std::set<std::int32_t> removable;
  for (const int group : state.assignment().sequence) {
    bool last = true;
    for (const GroupEdge& edge : costed.Successors(group)) last = last && !state.placed(edge.group);
    bool after = false;
    for (const int other : state.assignment().sequence) {
      if (other == group) after = true;
      if (!after || other == group) continue;
      const auto units = [&](int g) {
        const auto d = static_cast<std::size_t>(state.assignment().placement[static_cast<std::size_t>(g)]);
        return std::set<int>(costed.topology.device_units.begin() + costed.topology.device_offsets[d],
                             costed.topology.device_units.begin() + costed.topology.device_offsets[d + 1]);
      };
      for (const int unit : units(group)) last = last && units(other).count(unit) == 0;
    }
    if (last) removable.insert(group);
  }
  return removable;
}

TEST(Environment, EveryTrajectoryEndsInAValidPlanWithTheMakespanOfTheReferenceSimulator) {
  for (int seed = 0; seed < kProblems; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const EnvironmentProblem problem(random, {});
    State state(problem.environment);
    while (!state.done()) {
      ASSERT_FALSE(state.ready().empty());
      state.Append(RandomAction(state, random));
    }
    const Plan plan = problem.PlanOf(state.assignment());
    EXPECT_EQ(WhyNotValid(problem.graph, problem.machine, plan), std::nullopt) << "seed " << seed;
    const testing::SlowTimeline slow = testing::SlowSimulate(problem.graph, problem.machine, plan);
    EXPECT_NEAR(state.makespan(), slow.makespan, 1e-9 * slow.makespan) << "seed " << seed;
    for (int group = 0; group < problem.costed.num_groups; ++group)
      EXPECT_NEAR(state.Finish(group), slow.finish[static_cast<std::size_t>(group)], 1e-9 * slow.makespan);
  }
}

TEST(Environment, RemovableGroupsAreThoseLastOnAllTheirUnitsWithoutAPlacedSuccessor) {
  for (int seed = 0; seed < kProblems; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const EnvironmentProblem problem(random, {});
    State state(problem.environment);
    while (!state.done()) {
      state.Append(RandomAction(state, random));
      const std::set<std::int32_t> removable(state.removable().begin(), state.removable().end());
      EXPECT_EQ(removable.size(), state.removable().size());
      EXPECT_EQ(removable, RemovableByDefinition(state)) << "seed " << seed;
    }
  }
}

TEST(Environment, AClearedStateStartsOver) {
  Random random(3);
  const EnvironmentProblem problem(random, {});
  State state(problem.environment);
  std::vector<Action> actions;
  while (!state.done()) {
    actions.push_back(RandomAction(state, random));
    state.Append(actions.back());
  }
  const Assignment first = state.assignment();
  const double makespan = state.makespan();
  state.Clear();
  EXPECT_EQ(state.steps(), 0);
  EXPECT_EQ(state.makespan(), 0);
  for (const Action action : actions) state.Append(action);
  EXPECT_EQ(state.assignment(), first);
  EXPECT_EQ(state.makespan(), makespan);
}

TEST(Environment, ReadyGroupsAreSortedByUpwardRankAndOnlyThoseWithoutWaitingPredecessors) {
  for (int seed = 0; seed < kProblems; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const EnvironmentProblem problem(random, {});
    State state(problem.environment);
    while (!state.done()) {
      const auto ready = state.ready();
      for (std::size_t i = 1; i < ready.size(); ++i)
        EXPECT_GE(problem.environment.upward_ranks()[static_cast<std::size_t>(ready[i - 1])],
                  problem.environment.upward_ranks()[static_cast<std::size_t>(ready[i])]);
      for (int group = 0; group < problem.costed.num_groups; ++group) {
        bool expected = !state.placed(group);
        for (const GroupEdge& edge : problem.costed.Predecessors(group))
          expected = expected && state.placed(edge.group);
        EXPECT_EQ(std::count(ready.begin(), ready.end(), group), expected ? 1 : 0);
      }
      state.Append(RandomAction(state, random));
    }
  }
}

TEST(Environment, KeepsTheWindowInOrderOnGraphsThatAreWiderThanIt) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    Random random(seed);
    const ComputationGraph graph = MakeRandomGraph("er", {.ops = 1200, .seed = seed, .degree = 2});
    const CostedGraph costed =
        MakeCostedGraph(*MakeAnalyticCostModel(graph, *MachinePreset("homogeneous:2")), SingleOpGroups(graph));
    const Environment environment(costed);
    const std::span<const std::int32_t> positions = environment.rank_positions();
    const auto sooner = [positions](std::int32_t a, std::int32_t b) {
      return positions[static_cast<std::size_t>(a)] < positions[static_cast<std::size_t>(b)];
    };
    State state(environment);
    std::size_t widest = 0;
    while (!state.done()) {
      std::vector<std::int32_t> expected;
      for (int group = 0; group < costed.num_groups; ++group) {
        if (!state.placed(group) && state.Waiting(group) == 0) expected.push_back(group);
      }
      std::sort(expected.begin(), expected.end(), sooner);
      std::vector<std::int32_t> ready(state.ready().begin(), state.ready().end());
      widest = std::max(widest, ready.size());
      const std::size_t window = std::min<std::size_t>(ready.size(), kReadyWindow);
      EXPECT_TRUE(std::equal(ready.begin(), ready.begin() + static_cast<std::ptrdiff_t>(window), expected.begin()));
      std::sort(ready.begin(), ready.end(), sooner);
      ASSERT_EQ(ready, expected);
      // From the window as a policy does, and now and then from beyond it.
      state.Append({ready[random.Below(random.Below(4) == 0 ? ready.size() : window)], 0});
    }
    EXPECT_GT(widest, 2U * kReadyWindow);
  }
}

TEST(Backward, ATrajectoryDrawnFromAValidPlanRebuildsItsChains) {
  for (int seed = 0; seed < kProblems; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const EnvironmentProblem problem(random, {});
    const Plan plan = testing::RandomPlan(random, problem.graph, problem.machine, problem.costed.groups);
    const Assignment assignment{plan.placement, plan.sequence};
    const std::vector<Action> actions = DrawTrajectory(problem.costed, assignment, random);
    State state(problem.environment);
    for (const Action action : actions) {
      const auto ready = state.ready();
      ASSERT_NE(std::find(ready.begin(), ready.end(), action.group), ready.end()) << "seed " << seed;
      ASSERT_TRUE(state.MayRun(action.group, action.device));
      state.Append(action);
    }
    ASSERT_TRUE(state.done());
    EXPECT_EQ(UnitChains(problem.costed.topology, state.assignment()), UnitChains(problem.costed.topology, assignment));
    EXPECT_EQ(state.assignment().placement, assignment.placement);
  }
}

TEST(Backward, TheTrajectoryByStartRebuildsThePlanInOrderOfTime) {
  for (int seed = 0; seed < kProblems; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const EnvironmentProblem problem(random, {});
    const Plan plan = testing::RandomPlan(random, problem.graph, problem.machine, problem.costed.groups);
    const Assignment assignment{plan.placement, plan.sequence};
    State state(problem.environment);
    double last_start = 0;
    for (const Action action : TrajectoryByStart(problem.environment, assignment)) {
      const auto ready = state.ready();
      ASSERT_NE(std::find(ready.begin(), ready.end(), action.group), ready.end()) << "seed " << seed;
      const double start = state.EarliestStart(action.group, action.device);
      EXPECT_GE(start, last_start * (1 - 1e-9));
      last_start = start;
      state.Append(action);
    }
    EXPECT_EQ(UnitChains(problem.costed.topology, state.assignment()), UnitChains(problem.costed.topology, assignment));
  }
}

// Adds up P_B over all ways to build the plan from `state` on, and how likely each first action is to be drawn.
void BuildEveryWay(const State& state, const Assignment& plan, const std::vector<std::vector<int>>& chains,
                   double probability, std::vector<std::int32_t> order,
                   std::map<std::vector<std::int32_t>, double>& found) {
  if (state.done()) {
    found[order] += probability;
    return;
  }
  const CostedGraph& costed = state.environment().costed();
  for (const std::int32_t group : state.ready()) {
    const int device = plan.placement[static_cast<std::size_t>(group)];
    State next = state;
    next.Append({group, device});
    const std::vector<std::vector<int>> built = UnitChains(costed.topology, next.assignment());
    bool prefix = true;
    for (std::size_t unit = 0; unit < chains.size(); ++unit)
      prefix = prefix && std::equal(built[unit].begin(), built[unit].end(), chains[unit].begin(),
                                    chains[unit].begin() +
                                        static_cast<std::ptrdiff_t>(std::min(built[unit].size(), chains[unit].size())));
    if (!prefix) continue;
    std::vector<std::int32_t> longer = order;
    longer.push_back(group);
    BuildEveryWay(next, plan, chains, probability / static_cast<double>(next.removable().size()), longer, found);
  }
}

TEST(Backward, ProbabilitiesOfAllWaysToBuildAPlanSumToOne) {
  for (int seed = 0; seed < 60; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const EnvironmentProblem problem(random, TinyOptions());
    const Plan plan = testing::RandomPlan(random, problem.graph, problem.machine, problem.costed.groups);
    const Assignment assignment{plan.placement, plan.sequence};
    std::map<std::vector<std::int32_t>, double> found;
    BuildEveryWay(State(problem.environment), assignment, UnitChains(problem.costed.topology, assignment), 1, {},
                  found);
    double sum = 0;
    for (const auto& way : found) sum += way.second;
    EXPECT_NEAR(sum, 1.0, 1e-12) << "seed " << seed << ", " << found.size() << " ways";
  }
}

TEST(Backward, TrajectoriesAreDrawnAsOftenAsTheUniformBackwardPolicySays) {
  // The first random problem whose plan can be built in at least four ways.
  std::uint64_t seed = 0;
  std::map<std::vector<std::int32_t>, double> expected;
  const auto ways_of = [](const EnvironmentProblem& problem, const Assignment& assignment) {
    std::map<std::vector<std::int32_t>, double> ways;
    BuildEveryWay(State(problem.environment), assignment, UnitChains(problem.costed.topology, assignment), 1, {}, ways);
    return ways;
  };
  while (expected.size() < 4) {
    Random random(++seed);
    const EnvironmentProblem problem(random, TinyOptions());
    const Plan plan = testing::RandomPlan(random, problem.graph, problem.machine, problem.costed.groups);
    expected = ways_of(problem, {plan.placement, plan.sequence});
  }
  Random random(seed);
  const EnvironmentProblem problem(random, TinyOptions());
  const Plan plan = testing::RandomPlan(random, problem.graph, problem.machine, problem.costed.groups);
  const Assignment assignment{plan.placement, plan.sequence};
  constexpr int kDraws = 20000;
  std::map<std::vector<std::int32_t>, int> drawn;
  for (int i = 0; i < kDraws; ++i) {
    std::vector<std::int32_t> order;
    for (const Action action : DrawTrajectory(problem.costed, assignment, random)) order.push_back(action.group);
    ++drawn[order];
  }
  for (const auto& way : expected) {
    const double deviation = std::sqrt(way.second * (1 - way.second) * kDraws);
    EXPECT_NEAR(drawn[way.first], way.second * kDraws, 5 * deviation + 1);
  }
}

TEST(Observation, DependsOnTheChainsAloneAndNotOnTheOrderTheyWereBuiltIn) {
  for (int seed = 0; seed < kProblems; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const EnvironmentProblem problem(random, {});
    State state(problem.environment);
    const int steps = problem.costed.num_groups / 2 + 1;
    while (state.steps() < std::min(steps, problem.costed.num_groups - 1) && !state.done())
      state.Append(RandomAction(state, random));
    if (state.done()) continue;
    // Rebuild the same chains in another order: always the ready group with the largest number that is next on its
    // chains.
    const std::vector<std::vector<int>> chains = UnitChains(problem.costed.topology, state.assignment());
    State other(problem.environment);
    while (other.steps() < state.steps()) {
      std::int32_t last = -1;
      for (const std::int32_t group : other.ready()) {
        if (!state.placed(group)) continue;
        State tried = other;
        tried.Append({group, state.assignment().placement[static_cast<std::size_t>(group)]});
        const auto built = UnitChains(problem.costed.topology, tried.assignment());
        bool prefix = true;
        for (std::size_t unit = 0; unit < chains.size(); ++unit)
          prefix = prefix && built[unit].size() <= chains[unit].size() &&
                   std::equal(built[unit].begin(), built[unit].end(), chains[unit].begin());
        if (prefix) last = std::max(last, group);
      }
      ASSERT_GE(last, 0);
      other.Append({last, state.assignment().placement[static_cast<std::size_t>(last)]});
    }
    Observation mine, theirs;
    ObserveGroups(state, mine);
    ObserveGroups(other, theirs);
    EXPECT_EQ(mine.choices, theirs.choices);
    EXPECT_THAT(mine.features, ::testing::Pointwise(::testing::FloatNear(1e-5f), theirs.features));
    ObserveDevices(state, mine.choices.front(), mine);
    ObserveDevices(other, theirs.choices.front(), theirs);
    EXPECT_EQ(mine.choices, theirs.choices);
    EXPECT_THAT(mine.features, ::testing::Pointwise(::testing::FloatNear(1e-5f), theirs.features));
    EXPECT_THAT(mine.priors, ::testing::Pointwise(::testing::FloatNear(1e-5f), theirs.priors));
  }
}

TEST(Observation, IsFiniteAndItsFirstPriorsAreZeroForTheBestChoice) {
  for (int seed = 0; seed < kProblems; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const EnvironmentProblem problem(random, {});
    State state(problem.environment);
    Observation observation;
    const auto check = [&observation](int features, int priors) {
      ASSERT_EQ(observation.features.size(), observation.size() * static_cast<std::size_t>(features));
      ASSERT_EQ(observation.priors.size(), observation.size() * static_cast<std::size_t>(priors));
      for (const float feature : observation.features) EXPECT_TRUE(std::isfinite(feature));
      // The fourth says something of a choice alone, the others compare it with the best of its step.
      for (int k = 0; k < 3; ++k) {
        float most = -INFINITY;
        for (std::size_t i = 0; i < observation.size(); ++i)
          most = std::max(most, observation.priors[i * static_cast<std::size_t>(priors) + static_cast<std::size_t>(k)]);
        EXPECT_NEAR(most, 0.0f, 1e-5f);
      }
      for (const float prior : observation.priors) EXPECT_LE(prior, 1e-5f);
    };
    while (!state.done()) {
      ObserveGroups(state, observation);
      check(kGroupFeatures, kGroupPriors);
      ObserveDevices(state, observation.choices.back(), observation);
      check(kDeviceChoiceFeatures, kDeviceChoicePriors);
      state.Append(RandomAction(state, random));
    }
  }
}

TEST(Observation, OffersNoMoreThanTheWindowAndThereTheHighestRanks) {
  GraphData data;
  for (int i = 0; i < kReadyWindow + 50; ++i) {
    Op op;
    op.name = "op" + std::to_string(i);
    op.type = "Work";
    op.seconds.everywhere = 1.0 + (i * 37) % 101;
    data.ops.push_back(op);
  }
  const ComputationGraph graph(data);
  Machine machine;
  machine.devices.push_back({"d", "cpu", {0}, 1e9, 1e9, {}, 0});
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
  const Environment environment(costed);
  const State state(environment);
  Observation observation;
  ObserveGroups(state, observation);
  EXPECT_EQ(observation.size(), static_cast<std::size_t>(kReadyWindow));
  EXPECT_EQ(environment.upward_ranks()[static_cast<std::size_t>(observation.choices.front())], 101.0);
}

TEST(GraphFeatures, AreFiniteForOddProblems) {
  for (int seed = 0; seed < kProblems; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const EnvironmentProblem problem(random, {});
    const GraphFeatures features = MakeGraphFeatures(problem.environment);
    EXPECT_EQ(features.nodes.size(), static_cast<std::size_t>(features.num_groups) * kNodeFeatures);
    EXPECT_EQ(features.devices.size(), static_cast<std::size_t>(features.num_devices) * kDeviceFeatures);
    for (const float feature : features.nodes) EXPECT_TRUE(std::isfinite(feature)) << "seed " << seed;
    for (const float feature : features.devices) EXPECT_TRUE(std::isfinite(feature)) << "seed " << seed;
    for (const float feature : features.global) EXPECT_TRUE(std::isfinite(feature)) << "seed " << seed;
    EXPECT_EQ(features.predecessors.size(), features.successors.size());
    EXPECT_EQ(features.predecessors.size(), features.predecessor_features.size());
  }
}

TEST(GraphFeatures, AreTheSameInOtherUnitsOfTime) {
  Random random(5);
  RandomGraphOptions options;
  const ComputationGraph graph = MakeRandomGraph("layered", options);
  GraphData slower_data = graph.data();
  for (Op& op : slower_data.ops) *op.seconds.everywhere *= 1000;
  for (Tensor& tensor : slower_data.tensors) tensor.bytes *= 1000;
  const ComputationGraph slower(slower_data);
  Machine machine;
  for (int d = 0; d < 3; ++d) machine.devices.push_back({"d" + std::to_string(d), "cpu", {d}, 1e9, 1e9, {}, 0});
  machine.default_link = DefaultLink{0, 1e9};
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
  const CostedGraph slower_costed = MakeCostedGraph(*MakeAnalyticCostModel(slower, machine), SingleOpGroups(slower));
  const Environment environment(costed), slower_environment(slower_costed);
  const GraphFeatures features = MakeGraphFeatures(environment);
  const GraphFeatures slower_features = MakeGraphFeatures(slower_environment);
  EXPECT_THAT(features.nodes, ::testing::Pointwise(::testing::FloatNear(1e-4f), slower_features.nodes));
  EXPECT_THAT(features.devices, ::testing::Pointwise(::testing::FloatNear(1e-4f), slower_features.devices));
  EXPECT_THAT(features.global, ::testing::Pointwise(::testing::FloatNear(1e-4f), slower_features.global));
}

TEST(Reward, IsZeroForAPlanAsGoodAsHeftAndGrowsWithSizeAndSharpness) {
  Random random(7);
  const EnvironmentProblem problem(random, {});
  const double reference = problem.environment.reference_makespan();
  ASSERT_GT(reference, 0);
  EXPECT_NEAR(LogReward(problem.environment, reference, 0.1), 0, 1e-12);
  EXPECT_NEAR(LogReward(problem.environment, reference / 1.1, 0.1), problem.costed.num_groups, 1e-9);
  EXPECT_NEAR(LogReward(problem.environment, reference / 1.1, 0.05), 2 * problem.costed.num_groups, 1e-9);
  EXPECT_LT(LogReward(problem.environment, reference * 1.1, 0.1), 0);
}

TEST(Reward, OfTheSpeedupIsThePapersOwn) {
  Random random(7);
  RandomProblemOptions options;
  options.gangs = false;
  const EnvironmentProblem problem(random, options);
  double work = 0;
  for (const double seconds : problem.environment.mean_seconds()) work += seconds;
  EXPECT_NEAR(LogReward(problem.environment, work / 2, 0.25, RewardForm::kSpeedup),
              (2.0 - problem.costed.num_devices) / 0.25, 1e-9);
}

}  // namespace
}  // namespace millrace
