// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/sampling/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "millrace/gflownet/environment/backward.h"
#include "millrace/gflownet/environment/reward.h"
#include "millrace/gflownet/policy/message_passing.h"
#include "millrace/gflownet/sampling/choice.h"
#include "millrace/gflownet/sampling/plan_set.h"
#include "millrace/gflownet/sampling/sampling_planner.h"
#include "millrace/plan/chain_graph.h"
#include "millrace/plan/verify.h"
#include "millrace/simulate/timeline.h"
#include "tests/gflownet/environment/random_environment.h"
#include "tests/reference/sanitized.h"

namespace millrace {
namespace {

using testing::EnvironmentProblem;
using testing::RandomProblemOptions;

TEST(Sampler, TheSameSeedGivesTheSameTrajectoriesAtAnyNumberOfThreads) {
  Random random(1);
  const EnvironmentProblem problem(random, {});
  const auto policy = MakeUniformPolicy()->Prepare(problem.environment, 1);
  SamplerOptions one, three;
  one.recorded_share = three.recorded_share = 0.5;
  three.threads = 3;
  StepBatch batch_of_one, batch_of_three;
  const auto first = SampleTrajectories(problem.environment, *policy, 20, one, Random(4), &batch_of_one);
  const auto second = SampleTrajectories(problem.environment, *policy, 20, three, Random(4), &batch_of_three);
  std::set<double> makespans;
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].actions, second[i].actions);
    EXPECT_EQ(first[i].log_forward, second[i].log_forward);
    makespans.insert(first[i].makespan);
  }
  EXPECT_GT(makespans.size(), 1u);
  EXPECT_EQ(batch_of_one.groups.chosen, batch_of_three.groups.chosen);
  EXPECT_EQ(batch_of_one.groups.features, batch_of_three.groups.features);
  EXPECT_EQ(batch_of_one.devices.offsets, batch_of_three.devices.offsets);
  EXPECT_EQ(batch_of_one.devices.trajectory, batch_of_three.devices.trajectory);
}

std::vector<std::vector<Action>> ActionsOf(const std::vector<Trajectory>& trajectories) {
  std::vector<std::vector<Action>> actions;
  for (const Trajectory& trajectory : trajectories) actions.push_back(trajectory.actions);
  return actions;
}

TEST(Sampler, DrawsTheSameInOneBatchAsInTwo) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Random random(seed);
    const EnvironmentProblem problem(random, {});
    const auto policy = MakeUniformPolicy()->Prepare(problem.environment, 1);
    const auto batch = [&](std::int64_t first, int count) {
      SamplerOptions options;
      options.first = first;
      return ActionsOf(SampleTrajectories(problem.environment, *policy, count, options, Random(4), nullptr));
    };
    const Assignment any = GreedyTrajectory(problem.environment, *policy).assignment;
    const auto redrawn = [&](std::int64_t first, int count) {
      SamplerOptions options;
      options.first = first;
      const std::vector<Window> all(static_cast<std::size_t>(count));
      return ActionsOf(RedrawWindows(problem.environment, *policy, any, all, options, Random(4), nullptr));
    };
    const std::vector<std::vector<Action>> whole = batch(0, 40);
    std::vector<std::vector<Action>> halves = batch(0, 20);
    for (std::vector<Action>& actions : batch(20, 20)) halves.push_back(std::move(actions));
    EXPECT_EQ(whole, halves) << seed;
    EXPECT_EQ(redrawn(0, 40), whole) << seed;
    EXPECT_EQ(redrawn(20, 20), batch(20, 20)) << seed;
  }
}

TEST(Sampler, PlansAreValidAndTheirMakespansTrue) {
  for (int seed = 0; seed < 60; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const EnvironmentProblem problem(random, {});
    const auto policy = MakeUniformPolicy()->Prepare(problem.environment, 1);
    Simulator simulator(problem.costed);
    for (const Trajectory& trajectory :
         SampleTrajectories(problem.environment, *policy, 5, {}, Random(static_cast<std::uint64_t>(seed)), nullptr)) {
      EXPECT_EQ(WhyNotValid(problem.graph, problem.machine, problem.PlanOf(trajectory.assignment)), std::nullopt);
      EXPECT_NEAR(simulator.Makespan(trajectory.assignment), trajectory.makespan, 1e-9 * trajectory.makespan);
    }
  }
}

TEST(Sampler, GoesOnFromTheBeginningOfATrajectoryToAValidPlan) {
  for (int seed = 0; seed < 40; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const EnvironmentProblem problem(random, {});
    const auto policy = MakeUniformPolicy()->Prepare(problem.environment, 1);
    const Trajectory whole = SampleTrajectories(problem.environment, *policy, 1, {}, Random(3), nullptr).front();
    std::vector<Window> endings;
    for (std::size_t kept = 0; kept <= whole.actions.size(); ++kept) endings.push_back({.begin = kept});
    SamplerOptions three;
    three.threads = 3;
    const Assignment& plan = whole.assignment;
    const auto drawn = RedrawWindows(problem.environment, *policy, plan, endings, {}, Random(4), nullptr);
    const auto same = RedrawWindows(problem.environment, *policy, plan, endings, three, Random(4), nullptr);
    ASSERT_EQ(drawn.size(), endings.size());
    Simulator simulator(problem.costed);
    for (std::size_t i = 0; i < endings.size(); ++i) {
      EXPECT_EQ(drawn[i].actions, same[i].actions);
      ASSERT_EQ(drawn[i].actions.size(), whole.actions.size());
      EXPECT_TRUE(std::equal(whole.actions.begin(), whole.actions.begin() + static_cast<std::ptrdiff_t>(i),
                             drawn[i].actions.begin()));
      EXPECT_EQ(WhyNotValid(problem.graph, problem.machine, problem.PlanOf(drawn[i].assignment)), std::nullopt);
      EXPECT_NEAR(simulator.Makespan(drawn[i].assignment), drawn[i].makespan, 1e-9 * drawn[i].makespan);
    }
    EXPECT_EQ(drawn.back().assignment, whole.assignment);
    EXPECT_EQ(drawn.back().log_forward, 0);
    EXPECT_EQ(drawn.back().log_backward, 0);
    const auto anew = SampleTrajectories(problem.environment, *policy, 1, {}, Random(4), nullptr);
    EXPECT_EQ(drawn.front().actions, anew.front().actions);
    EXPECT_EQ(drawn.front().log_forward, anew.front().log_forward);
    EXPECT_EQ(drawn.front().log_backward, anew.front().log_backward);
  }
}

// What the plan says of the groups that were not drawn, in its order.
std::vector<std::int32_t> WithoutSteps(const Assignment& plan, const std::set<std::int32_t>& drawn) {
  std::vector<std::int32_t> left;
  for (const std::int32_t group : plan.sequence) {
    if (!drawn.contains(group)) left.push_back(group);
  }
  return left;
}

TEST(Sampler, AWindowLeavesThePlanOutsideItAsItIs) {
  int moved = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const EnvironmentProblem problem(random, {});
    const auto policy = MakeUniformPolicy()->Prepare(problem.environment, 1);
    const Assignment plan =
        SampleTrajectories(problem.environment, *policy, 1, {}, Random(3), nullptr).front().assignment;
    const Window window =
        PlaceWindow(DrawWindowSteps({2, 6}, plan.sequence.size(), random), plan.sequence.size(), random);
    Simulator simulator(problem.costed);
    StepBatch batch;
    const std::vector<Trajectory> redrawn =
        RedrawWindows(problem.environment, *policy, plan, {window, window}, {.recorded_share = 1}, Random(4), &batch);
    EXPECT_EQ(batch.groups.steps(), 2 * window.steps);
    for (const Trajectory& trajectory : redrawn) {
      EXPECT_EQ(WhyNotValid(problem.graph, problem.machine, problem.PlanOf(trajectory.assignment)), std::nullopt);
      EXPECT_NEAR(simulator.Makespan(trajectory.assignment), trajectory.makespan, 1e-9 * trajectory.makespan);
      const auto first = trajectory.assignment.sequence.begin() + static_cast<std::ptrdiff_t>(window.begin);
      EXPECT_TRUE(std::equal(plan.sequence.begin(), plan.sequence.begin() + static_cast<std::ptrdiff_t>(window.begin),
                             trajectory.assignment.sequence.begin()));
      const std::set<std::int32_t> drawn(first, first + static_cast<std::ptrdiff_t>(window.steps));
      EXPECT_EQ(WithoutSteps(trajectory.assignment, drawn), WithoutSteps(plan, drawn));
      for (std::size_t group = 0; group < plan.placement.size(); ++group) {
        if (drawn.contains(static_cast<std::int32_t>(group)) || problem.costed.colocation[group] >= 0) continue;
        EXPECT_EQ(trajectory.assignment.placement[group], plan.placement[group]);
      }
      moved += trajectory.assignment != plan;
    }
  }
  EXPECT_GT(moved, 60);
}

// Chains of a window's last state, and of the plan behind it.
std::vector<std::pair<int, int>> StateOf(const EnvironmentProblem& problem, const Trajectory& trajectory) {
  std::vector<std::pair<int, int>> state = ChainEdges(problem.costed.topology, trajectory.assignment);
  std::sort(state.begin(), state.end());
  for (const std::int32_t device : trajectory.assignment.placement) state.emplace_back(-1, device);
  return state;
}

TEST(Sampler, TheBackwardProbabilitiesOfAWindowsStateSumToOne) {
  int complete = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    RandomProblemOptions small;
    small.most_ops = 8;
    const EnvironmentProblem problem(random, small);
    const auto policy = MakeUniformPolicy()->Prepare(problem.environment, 1);
    const Assignment plan =
        SampleTrajectories(problem.environment, *policy, 1, {}, Random(3), nullptr).front().assignment;
    const std::size_t begin = plan.sequence.size() / 3;
    const Window window{begin, std::min<std::size_t>(3, plan.sequence.size() - begin)};
    std::map<std::vector<std::pair<int, int>>, std::map<std::vector<std::pair<int, int>>, double>> ways;
    for (const Trajectory& drawn :
         RedrawWindows(problem.environment, *policy, plan, std::vector<Window>(4000, window), {}, Random(5), nullptr)) {
      std::vector<std::pair<int, int>> steps;
      for (std::size_t i = begin; i < begin + window.steps; ++i)
        steps.emplace_back(drawn.actions[i].group, drawn.actions[i].device);
      std::vector<std::pair<int, int>> state = StateOf(problem, drawn);
      std::vector<std::pair<int, int>> placed = steps;  // two windows may lead to one plan from different states
      std::sort(placed.begin(), placed.end());
      state.insert(state.end(), placed.begin(), placed.end());
      ways[state][steps] = drawn.log_backward;
    }
    for (const auto& [state, backward] : ways) {
      double sum = 0;
      for (const auto& [steps, log_probability] : backward) sum += std::exp(log_probability);
      EXPECT_LE(sum, 1 + 1e-9);
      complete += sum > 1 - 1e-9;
    }
  }
  EXPECT_GT(complete, 100);
}

TEST(Sampler, RecordsEveryStepWithTheProbabilityItHad) {
  Random random(2);
  const EnvironmentProblem problem(random, {});
  const auto policy = MakeUniformPolicy()->Prepare(problem.environment, 1);
  SamplerOptions options;
  options.recorded_share = 1;
  StepBatch batch;
  const auto trajectories = SampleTrajectories(problem.environment, *policy, 7, options, Random(9), &batch);
  std::vector<double> sums(trajectories.size(), 0.0);
  for (const ChoiceBatch* choices : {&batch.groups, &batch.devices}) {
    ASSERT_EQ(choices->steps(), 7u * static_cast<std::size_t>(problem.costed.num_groups));
    ASSERT_EQ(choices->offsets.size(), choices->steps() + 1);
    for (std::size_t s = 0; s < choices->steps(); ++s) {
      EXPECT_GE(choices->chosen[s], choices->offsets[s]);
      EXPECT_LT(choices->chosen[s], choices->offsets[s + 1]);
      EXPECT_NEAR(choices->log_probability[s], -std::log(choices->offsets[s + 1] - choices->offsets[s]), 1e-5);
      sums[static_cast<std::size_t>(choices->trajectory[s])] += static_cast<double>(choices->log_probability[s]);
    }
  }
  for (std::size_t i = 0; i < sums.size(); ++i) EXPECT_NEAR(sums[i], trajectories[i].log_forward, 1e-6);
}

TEST(Sampler, RescoringWhatWasDrawnGivesTheSameProbabilities) {
  Random random(6);
  const EnvironmentProblem problem(random, {});
  const auto policy = MakeUniformPolicy()->Prepare(problem.environment, 1);
  const auto drawn = SampleTrajectories(problem.environment, *policy, 10, {}, Random(1), nullptr);
  std::vector<std::vector<Action>> actions;
  actions.reserve(drawn.size());
  for (const Trajectory& trajectory : drawn) actions.push_back(trajectory.actions);
  const auto rescored = RescoreTrajectories(problem.environment, *policy, actions, {}, Random(2), nullptr);
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    EXPECT_EQ(rescored[i].actions, drawn[i].actions);
    EXPECT_EQ(rescored[i].log_forward, drawn[i].log_forward);
    EXPECT_EQ(rescored[i].log_backward, drawn[i].log_backward);
    EXPECT_EQ(rescored[i].makespan, drawn[i].makespan);
  }
}

// All plans that can be reached, by their chains, with their makespans.
void Enumerate(const State& state, std::map<std::vector<std::vector<int>>, double>& plans,
               std::set<std::pair<std::vector<std::vector<int>>, std::vector<int>>>& seen) {
  const auto chains = UnitChains(state.environment().costed().topology, state.assignment());
  if (!seen.emplace(chains, state.assignment().placement).second) return;
  if (state.done()) {
    auto key = chains;
    key.push_back(state.assignment().placement);
    plans[key] = state.makespan();
    return;
  }
  for (const std::int32_t group : state.ready()) {
    for (int device = 0; device < state.environment().num_devices(); ++device) {
      if (!state.MayRun(group, device)) continue;
      State next = state;
      next.Append({group, device});
      Enumerate(next, plans, seen);
    }
  }
}

TEST(Sampler, ForwardAndBackwardProbabilitiesWeighSamplesSoThatTheyAddUpToThePartitionFunction) {
  RandomProblemOptions options;
  options.most_ops = 4;
  options.most_devices = 3;
  int tried = 0;
  for (int seed = 0; tried < testing::Rounds(12); ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const EnvironmentProblem problem(random, options);
    if (problem.costed.num_groups < 3 || problem.environment.reference_makespan() == 0) continue;
    ++tried;
    std::map<std::vector<std::vector<int>>, double> plans;
    std::set<std::pair<std::vector<std::vector<int>>, std::vector<int>>> seen;
    Enumerate(State(problem.environment), plans, seen);
    double partition = 0;
    for (const auto& plan : plans) partition += std::exp(LogReward(problem.environment, plan.second, 2));
    const auto policy = MakeUniformPolicy()->Prepare(problem.environment, 2);
    constexpr int kDraws = 40000;
    double sum = 0, squares = 0;
    for (const Trajectory& trajectory :
         SampleTrajectories(problem.environment, *policy, kDraws, {}, Random(3), nullptr)) {
      const double weight = std::exp(LogReward(problem.environment, trajectory.makespan, 2) + trajectory.log_backward -
                                     trajectory.log_forward);
      sum += weight;
      squares += weight * weight;
    }
    const double mean = sum / kDraws;
    const double deviation = std::sqrt(std::max(0.0, squares / kDraws - mean * mean) / kDraws);
    EXPECT_NEAR(mean, partition, 5 * deviation + 1e-6 * partition)
        << "seed " << seed << ", " << plans.size() << " plans";
  }
}

TEST(Choice, IsDrawnAsOftenAsSoftmaxTemperatureAndEpsilonSay) {
  std::vector<float> logits{1.0f, 0.0f, -1.0f};
  LogSoftmax(logits);
  Random random(8);
  constexpr int kDraws = 60000;
  for (const double temperature : {0.5, 1.0, 2.0}) {
    for (const double epsilon : {0.0, 0.3}) {
      double all = 0;
      for (const float logit : logits) all += std::exp(logit / temperature);
      std::vector<int> count(3, 0);
      for (int i = 0; i < kDraws; ++i) ++count[DrawChoice(logits, temperature, epsilon, random)];
      for (std::size_t i = 0; i < 3; ++i) {
        const double expected = (1 - epsilon) * std::exp(logits[i] / temperature) / all + epsilon / 3;
        EXPECT_NEAR(count[i] / static_cast<double>(kDraws), expected, 5 * std::sqrt(expected / kDraws));
      }
    }
  }
}

TEST(PlanSet, TakesPlansForOneWhenIdenticalDevicesSwapNamesAndOnlyThen) {
  RandomProblemOptions options;
  options.kinds = options.colocate = options.gangs = options.group_seconds = false;
  for (int seed = 0; seed < 40; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const ComputationGraph graph = testing::RandomGraph(random, options);
    Machine machine;
    for (int d = 0; d < 4; ++d) machine.devices.push_back({"d" + std::to_string(d), "cpu", {d}, 1e9, 1e9, {}, 0});
    machine.devices[3].flops_per_second = machine.devices[3].memory_bandwidth = 2e9;
    machine.default_link = DefaultLink{1e-3, 1e9};
    const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
    const Plan plan = testing::RandomPlan(random, graph, machine, costed.groups);
    Assignment renamed{plan.placement, plan.sequence};
    for (int& device : renamed.placement) device = device < 3 ? (device + 1) % 3 : device;
    PlanSet plans(costed);
    EXPECT_TRUE(plans.Insert({plan.placement, plan.sequence}));
    EXPECT_FALSE(plans.Insert(renamed)) << "seed " << seed;
    Assignment other = renamed;
    other.placement.front() = other.placement.front() == 3 ? 0 : 3;
    if (IdenticalDevices(costed)[3] == 3) {
      EXPECT_TRUE(plans.Insert(other)) << "seed " << seed;
    }
  }
}

TEST(SamplingPlanner, OffersAsManyPlansAsAskedForTheFirstTheMostLikely) {
  Random random(12);
  const EnvironmentProblem problem(random, {});
  SamplingPlannerOptions options;
  options.reward_temperatures = {0.1, 0.5, 1};
  Budget budget;
  budget.samples = 50;
  const auto offers_with = [&](int threads) {
    options.threads = threads;
    std::vector<Assignment> offers;
    Random stream(1);
    MakeSamplingPlanner({.name = "sampler"}, MakeUniformPolicy(), options)
        ->Propose(problem.costed, budget, stream,
                  [&offers](ProposedPlan offer) { offers.push_back(std::move(offer.assignment)); });
    return offers;
  };
  const std::vector<Assignment> offers = offers_with(1);
  ASSERT_EQ(offers.size(), 50u);
  EXPECT_EQ(offers, offers_with(3));
  const auto prepared = MakeUniformPolicy()->Prepare(problem.environment, 0.1);
  EXPECT_EQ(offers.front(), GreedyTrajectory(problem.environment, *prepared).assignment);
}

// Offers of a policy that knows nothing, on a problem with many plans.
std::vector<Assignment> OffersOfChance(const std::vector<double>& temperatures, std::int64_t samples) {
  Random random(15);
  const EnvironmentProblem problem(random, {});
  SamplingPlannerOptions options;
  options.reward_temperatures = temperatures;
  Budget budget;
  budget.samples = samples;
  std::vector<Assignment> offers;
  Random stream(1);
  MakeSamplingPlanner({.name = "sampler"}, MakeUniformPolicy(), options)
      ->Propose(problem.costed, budget, stream,
                [&offers](ProposedPlan offer) { offers.push_back(std::move(offer.assignment)); });
  return offers;
}

TEST(SamplingPlanner, DrawsOtherPlansInEveryBatchAndAtEveryLevel) {
  // Batches of 16 after the likeliest plan.
  const std::vector<Assignment> offers = OffersOfChance({0.1}, 1 + 3 * 16);
  const auto batch = [&offers](std::ptrdiff_t number) {
    const auto first = offers.begin() + 1 + 16 * number;
    return std::vector<Assignment>(first, first + 16);
  };
  EXPECT_NE(batch(0), batch(1));
  EXPECT_NE(batch(1), batch(2));
  EXPECT_NE(batch(0), batch(2));
  // The uniform policy does not look at the temperature, so that levels differ by their streams alone.
  const std::vector<Assignment> levels = OffersOfChance({0.1, 0.1}, 20);
  ASSERT_EQ(levels.size(), 20u);
  EXPECT_EQ(levels[0], levels[10]);
  EXPECT_NE(std::vector<Assignment>(levels.begin(), levels.begin() + 10),
            std::vector<Assignment>(levels.begin() + 10, levels.end()));
}

TEST(SamplingPlanner, OffersTheFirstPlansOfALargerBudget) {
  const std::vector<Assignment> few = OffersOfChance({0.1}, 20), many = OffersOfChance({0.1}, 60);
  EXPECT_EQ(few, std::vector<Assignment>(many.begin(), many.begin() + 20));
}

TEST(SoftmaxTemperature, FallsWithTheNumberOfGroupsBeyondASizeAndMoreSlowlyThanThatRises) {
  const SoftmaxTemperature temperature;
  const double ccr = temperature.usual_ccr;
  EXPECT_EQ(temperature.Of(1, ccr), temperature.most);
  EXPECT_EQ(temperature.Of(60, ccr), temperature.most);
  for (int groups = 60; groups < 2'000'000; groups *= 2) {
    EXPECT_LT(temperature.Of(2 * groups, ccr), temperature.Of(groups, ccr));
    EXPECT_GT(2 * temperature.Of(2 * groups, ccr), temperature.Of(groups, ccr));
  }
  EXPECT_EQ((SoftmaxTemperature{.most = 0.5, .power = 0, .ccr_power = 0}.Of(1000, 7)), 0.5);
}

TEST(SoftmaxTemperature, RisesWithWhatTransfersTakeWithinBounds) {
  const SoftmaxTemperature temperature;
  EXPECT_DOUBLE_EQ(temperature.Of(60, 0), temperature.most / temperature.most_change);
  EXPECT_DOUBLE_EQ(temperature.Of(60, 1e9), temperature.most * temperature.most_change);
  EXPECT_LT(temperature.Of(60, 1), temperature.Of(60, 2));
  EXPECT_DOUBLE_EQ(temperature.Of(600, 3) / temperature.Of(600, 2), temperature.Of(60, 3) / temperature.Of(60, 2));
}

TEST(SamplingPlanner, DrawsAsSharplyAsSuitsTheSizeOfTheGraph) {
  Random random(13);
  const EnvironmentProblem problem(random, {});
  const double groups = problem.costed.num_groups;
  Random weights(14);
  const std::shared_ptr<const Policy> policy = MakeMessagePassingPolicy(InitialMessagePassingWeights(weights));
  const auto offers_at = [&](const SoftmaxTemperature& temperature) {
    SamplingPlannerOptions options;
    options.softmax_temperature = temperature;
    Budget budget;
    budget.samples = 20;
    std::vector<Assignment> offers;
    Random stream(1);
    MakeSamplingPlanner({.name = "sampler"}, policy, options)
        ->Propose(problem.costed, budget, stream,
                  [&offers](ProposedPlan offer) { offers.push_back(std::move(offer.assignment)); });
    return offers;
  };
  const std::vector<Assignment> offers = offers_at({.most = 0.8, .groups = groups / 4, .power = 0.5, .ccr_power = 0});
  EXPECT_EQ(offers, offers_at({.most = 0.4, .groups = 1, .power = 0, .ccr_power = 0}));
  EXPECT_NE(offers, offers_at({.most = 0.8, .groups = 1, .power = 0, .ccr_power = 0}));
}

}  // namespace
}  // namespace millrace
