// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/sampling/fused_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/gflownet/environment/merge_observation.h"
#include "millrace/gflownet/environment/observation.h"
#include "millrace/gflownet/sampling/exact_distribution.h"
#include "millrace/plan/chain_graph.h"
#include "millrace/plan/verify.h"
#include "millrace/simulate/timeline.h"
#include "tests/reference/random_problem.h"
#include "tests/reference/sanitized.h"

namespace millrace {
namespace {

using testing::RandomProblemOptions;

struct FusionCase {
  FusionCase(std::uint64_t seed, const RandomProblemOptions& options)
      : random(seed),
        graph(testing::RandomGraph(random, options)),
        machine(testing::RandomMachine(random, options)),
        model(MakeAnalyticCostModel(graph, machine)) {}

  FusedSampler Sampler(double strength, double temperature) const {
    return {*model, strength == 0 ? MakeUniformFusionPolicy() : MakeSavingFusionPolicy(strength), MakeUniformPolicy(),
            temperature};
  }

  Random random;
  ComputationGraph graph;
  Machine machine;
  std::unique_ptr<CostModel> model;
};

TEST(FusedSampler, TheSameSeedGivesTheSamePlansAtAnyNumberOfThreads) {
  for (const int ops : {6, 40}) {
    RandomProblemOptions options;
    options.most_ops = ops;
    const FusionCase problem(7, options);
    SamplerOptions one, three;
    three.threads = 3;
    auto first_sampler = problem.Sampler(0.5, 1);
    auto second_sampler = problem.Sampler(0.5, 1);
    const auto first = first_sampler.Sample(40, one, Random(4));
    const auto second = second_sampler.Sample(40, three, Random(4));
    const auto fewer = second_sampler.Sample(15, three, Random(4));
    for (std::size_t i = 0; i < first.size(); ++i) {
      EXPECT_EQ(first[i].plan(), second[i].plan());
      EXPECT_EQ(first[i].answers, second[i].answers);
      EXPECT_EQ(first[i].log_forward(), second[i].log_forward());
      if (i < fewer.size()) {
        EXPECT_EQ(first[i].plan(), fewer[i].plan());
      }
    }
  }
}

TEST(FusedSampler, AsksOnWhereAnEarlierBatchStopped) {
  RandomProblemOptions random_problem;
  random_problem.most_ops = 40;
  const FusionCase problem(7, random_problem);
  const auto answers = [&problem](std::int64_t first, int count) {
    SamplerOptions options;
    options.first = first;
    std::vector<std::vector<char>> drawn;
    auto sampler = problem.Sampler(0.5, 1);
    for (const FusedTrajectory& drawn_plan : sampler.Sample(count, options, Random(4)))
      drawn.push_back(drawn_plan.answers);
    return drawn;
  };
  std::vector<std::vector<char>> halves = answers(0, 20);
  for (std::vector<char>& more : answers(20, 20)) halves.push_back(std::move(more));
  EXPECT_EQ(answers(0, 40), halves);
  EXPECT_NE(answers(0, 20), answers(20, 20));
}

TEST(FusedSampler, PlansAreValidAndTheirMakespansTrue) {
  std::size_t fused = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const FusionCase problem(seed, {});
    auto sampler = problem.Sampler(0, 1);
    for (const FusedTrajectory& trajectory : sampler.Sample(5, {}, Random(seed))) {
      EXPECT_EQ(WhyNotValid(problem.graph, problem.machine, trajectory.plan()), std::nullopt);
      const CostedGraph costed = MakeCostedGraph(*problem.model, trajectory.groups);
      EXPECT_NEAR(Simulator(costed).Makespan(trajectory.placing.assignment), trajectory.placing.makespan,
                  1e-9 * trajectory.placing.makespan);
      EXPECT_NEAR(trajectory.log_fusing, -std::log(2.0) * static_cast<double>(trajectory.answers.size()), 1e-9);
      fused += trajectory.groups.size() < static_cast<std::size_t>(problem.graph.num_ops()) ? 1 : 0;
    }
  }
  EXPECT_GT(fused, 100u);
}

TEST(FusedSampler, ContractsEqualGroupsOnce) {
  RandomProblemOptions options;
  options.most_ops = 8;
  std::uint64_t seed = 0;
  while (FusionState(FusionProblem(*FusionCase(seed, options).model)).done()) ++seed;
  const FusionCase problem(seed, options);
  auto sampler = problem.Sampler(0, 1);
  std::set<FusionGroups> different;
  for (const FusedTrajectory& trajectory : sampler.Sample(100, {}, Random(1))) different.insert(trajectory.groups);
  EXPECT_GT(different.size(), 1u);
  EXPECT_EQ(sampler.environments().made(), different.size());
  sampler.Sample(100, {}, Random(1));
  EXPECT_EQ(sampler.environments().made(), different.size());
}

TEST(FusedEnvironments, ForgetWhatWasAskedForLongestAgo) {
  RandomProblemOptions options;
  options.most_ops = 8;
  const FusionCase problem(7, options);
  FusedEnvironments environments(*problem.model, 1);
  const FusionGroups single = SingleOpGroups(problem.graph);
  FusionGroups reversed(single.rbegin(), single.rend());
  const auto first = environments.For(single);
  EXPECT_EQ(environments.For(single), first);
  EXPECT_EQ(environments.made(), 1u);
  EXPECT_EQ(environments.For(reversed)->costed.groups, reversed);
  EXPECT_EQ(first->costed.groups, single) << "still held here";
  EXPECT_NE(environments.For(single), first);
  EXPECT_EQ(environments.made(), 3u);
}

TEST(FusedSampler, DrawsTrajectoriesBackwardsFromPlansOfAnyOrigin) {
  RandomProblemOptions options;
  options.group_seconds = false;
  int fused = 0;
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    FusionCase problem(seed, options);
    const Plan plan = testing::RandomPlan(problem.random, problem.graph, problem.machine,
                                          testing::RandomGroups(problem.random, problem.graph));
    auto sampler = problem.Sampler(0.3, 1);
    const auto trajectory = sampler.DrawBackwards(plan, Random(seed));
    ASSERT_TRUE(trajectory.has_value()) << "seed " << seed;
    EXPECT_EQ(WhyNotValid(problem.graph, problem.machine, trajectory->plan()), std::nullopt);
    const CostedGraph costed = MakeCostedGraph(*problem.model, plan.groups);
    EXPECT_NEAR(Simulator(costed).Makespan({plan.placement, plan.sequence}), trajectory->placing.makespan,
                1e-9 * trajectory->placing.makespan);
    const auto chains_of = [&costed](const Plan& of) {
      std::vector<std::vector<std::vector<OpId>>> chains;
      for (const std::vector<int>& chain : UnitChains(costed.topology, {of.placement, of.sequence})) {
        chains.emplace_back();
        for (const int group : chain) chains.back().push_back(of.groups[static_cast<std::size_t>(group)]);
      }
      return chains;
    };
    EXPECT_EQ(chains_of(plan), chains_of(trajectory->plan())) << "seed " << seed;
    EXPECT_GT(trajectory->log_forward(), -std::numeric_limits<double>::infinity());
    fused += plan.groups.size() < static_cast<std::size_t>(problem.graph.num_ops()) ? 1 : 0;
  }
  EXPECT_GT(fused, 20);
}

// Groups, then for every unit what it runs, then placement: by ops, so that plans of different groups compare.
using PlanKey = std::pair<FusionGroups, std::vector<std::vector<int>>>;

PlanKey KeyOf(const CostedGraph& costed, const Assignment& assignment) {
  PlanKey key{costed.groups, UnitChains(costed.topology, assignment)};
  key.second.push_back(assignment.placement);
  return key;
}

struct KnownPlan {
  double probability = 0;
  double makespan = 0;
};
using Exact = std::map<PlanKey, KnownPlan>;

// Adds every plan that the merges still to be offered lead to: of each way to fuse, all placements of its groups.
void AddPlans(FusedSampler& sampler, MergeObserver& observer, const FusionState& state, double log_fusing,
              Exact& plans) {
  if (state.done()) {
    const auto fused = sampler.environments().For(state.groups());
    const auto placing = sampler.Prepare(fused->environment);
    for (const ExactPlan& plan : MakeExactDistribution(fused->environment, *placing).plans) {
      const KnownPlan known{std::exp(log_fusing) * plan.probability, plan.makespan};
      EXPECT_TRUE(plans.emplace(KeyOf(fused->costed, plan.assignment), known).second) << "a plan is there twice";
    }
    return;
  }
  MergeObservation offered;
  observer.Observe(state, offered);
  const FusedSampler::LogAnswers answers = sampler.Answer(offered);
  FusionState accepted = state, declined = state;
  accepted.Accept();
  AddPlans(sampler, observer, accepted, log_fusing + answers.accept, plans);
  declined.Decline();
  AddPlans(sampler, observer, declined, log_fusing + answers.decline, plans);
}

Exact ExactOf(FusedSampler& sampler) {
  Exact plans;
  MergeObserver observer(sampler.problem());
  AddPlans(sampler, observer, FusionState(sampler.problem()), 0, plans);
  return plans;
}

// Every plan there is by trying all partitions, placements and orders of chains.
void EnumerateByPartitions(const FusionCase& problem, FusionGroups& partial, std::set<PlanKey>& plans) {
  const std::span<const OpId> order = problem.graph.topological_order();
  std::size_t next = 0;
  for (const std::vector<OpId>& group : partial) next += group.size();
  if (next == order.size()) {
    if (WhyNotGroups(problem.graph, partial)) return;
    try {
      const CostedGraph costed = MakeCostedGraph(*problem.model, partial);
      Assignment assignment;
      assignment.placement.resize(partial.size());
      for (int i = 0; i < costed.num_groups; ++i) assignment.sequence.push_back(i);
      do {
        std::fill(assignment.placement.begin(), assignment.placement.end(), 0);
        while (true) {
          const Plan plan{partial, assignment.placement, assignment.sequence};
          if (!WhyNotValid(problem.graph, problem.machine, plan)) plans.insert(KeyOf(costed, assignment));
          std::size_t digit = 0;
          while (digit < partial.size() && ++assignment.placement[digit] == costed.num_devices)
            assignment.placement[digit++] = 0;
          if (digit == partial.size()) break;
        }
      } while (std::next_permutation(assignment.sequence.begin(), assignment.sequence.end()));
    } catch (const std::exception&) {
      // No order of these groups exists, or one can run nowhere.
    }
    return;
  }
  for (std::size_t g = 0; g < partial.size(); ++g) {
    partial[g].push_back(order[next]);
    EnumerateByPartitions(problem, partial, plans);
    partial[g].pop_back();
  }
  partial.push_back({order[next]});
  EnumerateByPartitions(problem, partial, plans);
  partial.pop_back();
}

RandomProblemOptions FewFused() {
  RandomProblemOptions options;
  options.most_ops = 5;
  options.most_devices = 2;
  return options;
}

TEST(FusedSampler, ReachesEveryPlanWithProbabilitiesThatAddUpToOne) {
  int with_choices = 0;
  for (std::uint64_t seed = 0; with_choices < 25; ++seed) {
    RandomProblemOptions options = FewFused();
    options.group_seconds = false;  // those that close devices to groups leave plans out (fusion/fusion_choices.h)
    const FusionCase problem(seed, options);
    const FusionProblem choices(*problem.model);
    if (FusionState(choices).done()) continue;
    ++with_choices;
    auto sampler = problem.Sampler(0.7, 1);
    const Exact exact = ExactOf(sampler);
    double sum = 0;
    std::set<PlanKey> reached;
    for (const auto& [key, plan] : exact) {
      sum += plan.probability;
      reached.insert(key);
    }
    EXPECT_NEAR(sum, 1, 1e-9);
    std::set<PlanKey> all;
    FusionGroups partial;
    EnumerateByPartitions(problem, partial, all);
    EXPECT_EQ(reached, all) << "seed " << seed;
  }
}

TEST(FusedSampler, DrawsPlansAsOftenAsTheProbabilitiesOfBothPhasesSayAndWeighsThemToThePartitionFunction) {
  constexpr double kTemperature = 2;
  constexpr int kDraws = 20000;
  int tried = 0;
  for (std::uint64_t seed = 0; tried < testing::Rounds(8); ++seed) {
    RandomProblemOptions options = FewFused();
    options.most_ops = 4;
    const FusionCase problem(seed, options);
    const FusionProblem choices(*problem.model);
    auto sampler = problem.Sampler(0.7, kTemperature);
    if (FusionState(choices).done() || sampler.scale().reference_makespan == 0) continue;
    const Exact exact = ExactOf(sampler);
    if (std::any_of(exact.begin(), exact.end(), [](const auto& plan) { return plan.second.makespan == 0; })) continue;
    ++tried;
    double partition = 0;
    for (const auto& entry : exact)
      partition += std::exp(LogReward(sampler.scale(), entry.second.makespan, kTemperature));
    std::map<PlanKey, int> counts;
    double sum = 0, squares = 0;
    for (const FusedTrajectory& trajectory : sampler.Sample(kDraws, {}, Random(3))) {
      const double weight =
          std::exp(sampler.LogReward(trajectory) + trajectory.log_backward() - trajectory.log_forward());
      sum += weight;
      squares += weight * weight;
      const auto fused = sampler.environments().For(trajectory.groups);
      ++counts[KeyOf(fused->costed, trajectory.placing.assignment)];
    }
    const double mean = sum / kDraws;
    const double deviation = std::sqrt(std::max(0.0, squares / kDraws - mean * mean) / kDraws);
    EXPECT_NEAR(mean, partition, 5 * deviation + 1e-6 * partition) << "seed " << seed;
    for (const auto& [key, plan] : exact) {
      EXPECT_NEAR(counts[key] / static_cast<double>(kDraws), plan.probability,
                  5 * std::sqrt(plan.probability / kDraws) + 2.0 / kDraws)
          << "seed " << seed;
    }
    for (const auto& entry : counts) EXPECT_EQ(exact.count(entry.first), 1u);
  }
}

// A convolution and its activation, measured together at a quarter of the time they take apart; another one beside.
ComputationGraph WhereFusingPays() {
  GraphData data;
  data.ops.resize(3);
  for (Op& op : data.ops) {
    op.type = "Relu";
    op.seconds.everywhere = 2;
  }
  data.ops[0].type = "Conv";
  data.tensors = {{"made", 0, {1, 2}, 8, false}, {"one", 1, {}, 8, true}, {"two", 2, {}, 8, true}};
  data.group_seconds.push_back({{0, 1}, {1.0, {}}});
  return ComputationGraph(std::move(data));
}

Machine OneDevice() {
  Machine machine;
  machine.devices.push_back({"d", "cpu", {0}, 1e9, 1e9, {}, 0});
  return machine;
}

TEST(FusedSampler, RewardsFusionThatPaysByOneReference) {
  const ComputationGraph graph = WhereFusingPays();
  const auto model = MakeAnalyticCostModel(graph, OneDevice());
  FusedSampler sampler(*model, MakeSavingFusionPolicy(100), MakeUniformPolicy(), 0.5);
  EXPECT_EQ(sampler.scale().groups, 3);
  EXPECT_NEAR(sampler.scale().reference_makespan, 6, 1e-12);
  for (const FusedTrajectory& trajectory : sampler.Sample(10, {}, Random(1))) {
    EXPECT_EQ(trajectory.groups.front(), (std::vector<OpId>{0, 1}));
    EXPECT_NEAR(trajectory.placing.makespan, 3, 1e-12);
    EXPECT_NEAR(sampler.LogReward(trajectory), 3 * (6.0 / 3 - 1) / 0.5, 1e-9);
  }
}

TEST(MergeObserver, TellsWhatAMergeSavesByTheModel) {
  const ComputationGraph graph = WhereFusingPays();
  const auto model = MakeAnalyticCostModel(graph, OneDevice());
  const FusionProblem problem(*model);
  FusionState state(problem);
  MergeObserver observer(problem);
  MergeObservation observation;
  const FeatureRow<MergeFeature> features(observation.features.data());
  observer.Observe(state, observation);
  EXPECT_EQ(state.offer().consumer, 1);
  EXPECT_DOUBLE_EQ(observation.saved, (2.0 + 2.0 - 1.0) / 2.0);
  EXPECT_EQ(features[MergeFeature::kBytesSaved], 0) << "the convolution's result has another reader";
  state.Accept();
  observer.Observe(state, observation);
  EXPECT_DOUBLE_EQ(observation.saved, (1.0 + 2.0 - 6.0) / 2.0) << "the three are only stated one by one";
  EXPECT_GT(features[MergeFeature::kBytesSaved], 0);
}

TEST(FusedSampler, MatchesTheTemperatureOfPlacingToTheSharpnessOfTheReward) {
  const RewardScale whole{12, 2, 5.0, 9.0}, part{4, 2, 2.5, 6.0};
  const double temperature = MatchingTemperature(part, whole, 0.3);
  EXPECT_NEAR(LogReward(part, 2, temperature) - LogReward(part, 3, temperature),
              LogReward(whole, 2, 0.3) - LogReward(whole, 3, 0.3), 1e-9);
}

TEST(FusedSampler, RefusesATemperatureOfZero) {
  const FusionCase problem(3, {});
  EXPECT_THROW(problem.Sampler(0, 0), InvalidInput);
}

}  // namespace
}  // namespace millrace
