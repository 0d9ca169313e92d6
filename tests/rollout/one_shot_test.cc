// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "millrace/cost/analytic_cost.h"
#include "millrace/heuristics/fusion.h"
#include "millrace/heuristics/placed_list.h"
#include "millrace/plan/fusion_table.h"
#include "millrace/plan/verify.h"
#include "millrace/policy/sage.h"
#include "millrace/rollout/one_shot_plan.h"
#include "millrace/rollout/one_shot_sampler.h"
#include "millrace/simulate/peak_memory.h"
#include "millrace/simulate/timeline.h"
#include "tests/reference/random_problem.h"
#include "tests/reference/slow_simulator.h"

namespace millrace {
namespace {

struct OneShotCase {
  explicit OneShotCase(std::uint64_t seed, int most_ops = 24, bool memory = false)
      : random(seed),
        graph(testing::RandomGraph(random, Options(most_ops, memory))),
        machine(testing::RandomMachine(random, Options(most_ops, memory))),
        model(MakeAnalyticCostModel(graph, machine)),
        problem(*model),
        decoder(problem) {}
  OneShotCase(const OneShotCase&) = delete;
  OneShotCase& operator=(const OneShotCase&) = delete;

  static testing::RandomProblemOptions Options(int most_ops, bool memory) {
    testing::RandomProblemOptions options;
    options.most_ops = most_ops;
    options.memory = memory;
    return options;
  }

  // Devices at random, those a tie cannot use among them: decoding has to repair such.
  Decisions RandomDecisions() {
    Decisions decisions;
    const auto levels = [this] {
      std::vector<std::uint8_t> chosen;
      for (int row = 0; row < problem.num_rows(); ++row)
        chosen.push_back(static_cast<std::uint8_t>(random.Below(kLevels)));
      return chosen;
    };
    if (random.Below(4) > 0) {
      for (int tie = 0; tie < problem.num_ties(); ++tie)
        decisions.device.push_back(static_cast<std::int32_t>(random.Below(machine.devices.size())));
    }
    if (random.Below(4) > 0) decisions.priority = levels();
    if (random.Below(4) > 0) decisions.fusion = levels();
    return decisions;
  }

  Random random;
  ComputationGraph graph;
  Machine machine;
  std::unique_ptr<CostModel> model;
  OneShotProblem problem;
  OneShotDecoder decoder;
};

OneShotPolicy SomePolicy(std::uint64_t seed) {
  Random random(seed);
  Weights weights = InitialSageWeights(random);
  for (auto& [name, tensor] : weights.tensors) {
    for (float& value : tensor.values) value += static_cast<float>(0.05 * random.Normal());
  }
  return OneShotPolicy(weights);
}

TEST(OneShotPlan, IsValidWhateverWasDecidedAndItsTimesAreTrue) {
  int fused = 0, infeasible = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    OneShotCase problem(seed, 24, seed % 2 == 0);
    const OneShotPlan decoded = problem.decoder.Decode(problem.RandomDecisions());
    const Plan plan = decoded.plan();
    EXPECT_EQ(WhyNotValid(problem.graph, problem.machine, plan), std::nullopt);
    const testing::SlowTimeline slow = testing::SlowSimulate(problem.graph, problem.machine, plan);
    EXPECT_NEAR(decoded.makespan, slow.makespan, 1e-9 * slow.makespan);
    EXPECT_EQ(decoded.fits, slow.feasible);
    EXPECT_EQ(SchedulePlaced(*decoded.costed, decoded.assignment.placement, decoded.priorities).assignment,
              decoded.assignment);
    infeasible += decoded.fits ? 0 : 1;
    fused += plan.groups.size() < static_cast<std::size_t>(problem.graph.num_ops()) ? 1 : 0;
  }
  EXPECT_GT(fused, 50);
  EXPECT_GT(infeasible, 5);
}

TEST(OneShotPlan, IsPlacedTheSameByTheDevicesItIsWrittenDownWith) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    OneShotCase problem(seed);
    Decisions decisions = problem.RandomDecisions();
    const OneShotPlan decoded = problem.decoder.Decode(decisions);
    decisions.device = DevicesByTie(problem.problem, *decoded.costed, decoded.assignment.placement);
    const OneShotPlan again = problem.decoder.Decode(decisions);
    ASSERT_EQ(again.costed->groups, decoded.costed->groups);
    EXPECT_EQ(again.assignment.placement, decoded.assignment.placement);
  }
}

TEST(OneShotPlan, LevelZeroFusesNothingAndNoLevelsFuseGreedily) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    OneShotCase problem(seed);
    Decisions decisions;
    EXPECT_EQ(problem.decoder.Decode(decisions).costed->groups, GreedyFusion(problem.graph));
    decisions.fusion.assign(static_cast<std::size_t>(problem.problem.num_rows()), 0);
    EXPECT_EQ(problem.decoder.Decode(decisions).costed->groups.size(),
              static_cast<std::size_t>(problem.graph.num_ops()));
  }
}

// A Relu is read by two others: only one pair fits in with the Conv's group limit of this machine's rules, or the level
// says which comes first.
TEST(OneShotPlan, MergesTheHighestLevelFirst) {
  GraphData data;
  for (const char* type : {"Conv", "Add", "Conv"}) {
    Op op;
    op.name = type;
    op.type = type;
    op.flops = 1;
    data.ops.push_back(op);
  }
  // An Add of two convolutions can follow only one of them.
  data.tensors = {{"a", 0, {1}, 8, false}, {"b", 2, {1}, 8, false}};
  const ComputationGraph graph(data);
  Machine machine;
  machine.devices = {{"d", "cpu", {0}, 1e9, 1e9, std::nullopt, 0}};
  const auto model = MakeAnalyticCostModel(graph, machine);
  const OneShotProblem problem(*model);
  const OneShotDecoder decoder(problem);
  Decisions decisions;
  decisions.fusion = {5, 5, 5};
  EXPECT_EQ(decoder.Decode(decisions).costed->groups.size(), 2u);
  decisions.fusion[static_cast<std::size_t>(problem.RowOf(1))] = 0;
  EXPECT_EQ(decoder.Decode(decisions).costed->groups.size(), 3u);

  // A chain of 17 Relu behind each other: 16 may be one group, and the level says which one stays out.
  GraphData chain;
  for (int i = 0; i < 17; ++i) {
    Op op;
    op.name = std::to_string(i);
    op.type = "Relu";
    op.flops = 1;
    chain.ops.push_back(op);
    Tensor tensor;
    tensor.name = std::to_string(i);
    tensor.producer = i;
    tensor.bytes = 8;
    if (i < 16) tensor.consumers = {i + 1};
    chain.tensors.push_back(tensor);
  }
  const ComputationGraph relus(chain);
  const auto relu_model = MakeAnalyticCostModel(relus, machine);
  const OneShotProblem relu_problem(*relu_model);
  const OneShotDecoder relu_decoder(relu_problem);
  Decisions order;
  for (int low : {1, 16, 8}) {
    order.fusion.assign(17, 5);
    order.fusion[static_cast<std::size_t>(relu_problem.RowOf(low))] = 1;
    const FusionGroups groups = relu_decoder.Groups(order);
    ASSERT_EQ(groups.size(), 2u);
    EXPECT_EQ(groups[1].front(), low);
  }
}

TEST(OneShotPlan, GroupsGoWhereTheirAnchorWasPlaced) {
  int checked = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    OneShotCase problem(seed);
    Decisions decisions = problem.RandomDecisions();
    if (!decisions.Has(Task::kPlacement)) continue;
    const OneShotPlan plan = problem.decoder.Decode(decisions);
    for (std::size_t g = 0; g < plan.costed->groups.size(); ++g) {
      if (plan.costed->colocation[g] >= 0) continue;
      for (const OpId op : plan.costed->groups[g]) {
        if (FusionRoleOf(problem.graph.op(op).type) != FusionRole::kAnchor) continue;
        const int wanted = decisions.device[static_cast<std::size_t>(problem.problem.TieOf(problem.problem.RowOf(op)))];
        if (!std::isfinite(plan.costed->Seconds(static_cast<int>(g), wanted))) continue;
        EXPECT_EQ(plan.assignment.placement[g], wanted);
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 50);
}

TEST(OneShotSampler, TheSameSeedGivesTheSameDrawsAtAnyNumberOfThreads) {
  for (const int ops : {6, 60}) {
    OneShotCase problem(7, ops);
    const PreparedOneShot policy = SomePolicy(1).Prepare(problem.problem);
    OneShotOptions one, three;
    three.threads = 3;
    const auto first = DrawOneShot(problem.problem, policy, 7, one, Random(4));
    const auto second = DrawOneShot(problem.problem, policy, 7, three, Random(4));
    const auto single = DrawOneShot(problem.problem, policy, 1, three, Random(4));
    for (std::size_t i = 0; i < first.size(); ++i) {
      EXPECT_EQ(first[i].iterations, second[i].iterations);
      EXPECT_EQ(first[i].log_probabilities, second[i].log_probabilities);
    }
    EXPECT_EQ(single.front().iterations, first.front().iterations);
  }
}

TEST(OneShotSampler, DrawsWithTheProbabilitiesItStates) {
  int likelier = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    OneShotCase problem(seed);
    const PreparedOneShot policy = SomePolicy(seed).Prepare(problem.problem);
    OneShotOptions options;
    options.iterations = 3;
    const auto draws = DrawOneShot(problem.problem, policy, 3, options, Random(seed));
    options.softmax_temperature = 0;
    const auto greedy = DrawOneShot(problem.problem, policy, 1, options, Random(seed));
    for (const OneShotDraw& draw : draws) {
      ASSERT_EQ(draw.iterations.size(), 3u);
      for (std::size_t t = 0; t < 3; ++t) {
        const Decisions before = t > 0 ? draw.iterations[t - 1] : Decisions{};
        const double stated = draw.log_probabilities[t];
        EXPECT_NEAR(LogProbability(problem.problem, policy, before, draw.iterations[t]), stated,
                    1e-9 * std::max(1.0, std::fabs(stated)));
      }
      likelier += draw.log_probabilities[0] <= greedy[0].log_probabilities[0] + 1e-9 ? 1 : 0;
      for (int tie = 0; tie < problem.problem.num_ties(); ++tie) {
        const auto row = problem.problem.RowsOf(tie).front();
        EXPECT_TRUE(
            std::isfinite(problem.problem.Seconds(row, draw.decisions().device[static_cast<std::size_t>(tie)])));
      }
    }
  }
  // A later task's likeliest choices may be less likely than another's after other choices of an earlier one.
  EXPECT_GT(likelier, 50);
}

// Devices that differ in name and unit only may be listed in any order: the plan is the same but for these.
TEST(OneShotSampler, DoesNotCareInWhichOrderEqualDevicesAreListed) {
  Random random(11);
  testing::RandomProblemOptions options;
  options.kinds = false;
  const ComputationGraph graph = testing::RandomGraph(random, options);
  Machine machine;
  for (int d = 0; d < 4; ++d)
    machine.devices.push_back({"device" + std::to_string(d), "cpu", {d}, 1e9, 1e9, std::nullopt, 1e-3});
  machine.default_link = DefaultLink{1e-3, 1e9};
  Machine other = machine;
  std::swap(other.devices[0], other.devices[2]);
  std::swap(other.devices[1], other.devices[3]);
  const OneShotPolicy policy = SomePolicy(2);
  const auto plans_on = [&](const Machine& on) {
    const auto model = MakeAnalyticCostModel(graph, on);
    const OneShotProblem problem(*model);
    const OneShotDecoder decoder(problem);
    std::vector<Plan> plans;
    for (const OneShotDraw& draw : DrawOneShot(problem, policy.Prepare(problem), 5, {}, Random(9)))
      plans.push_back(decoder.Decode(draw.decisions()).plan());
    return plans;
  };
  EXPECT_EQ(plans_on(machine), plans_on(other));
}

TEST(OneShotSampler, LeavesOutTasksThatAreSwitchedOff) {
  OneShotCase problem(3);
  const PreparedOneShot policy = SomePolicy(5).Prepare(problem.problem);
  OneShotOptions options;
  options.tasks = {true, false, true};
  for (const OneShotDraw& draw : DrawOneShot(problem.problem, policy, 3, options, Random(1))) {
    EXPECT_TRUE(draw.decisions().Has(Task::kPlacement));
    EXPECT_FALSE(draw.decisions().Has(Task::kPriority));
    EXPECT_TRUE(draw.decisions().Has(Task::kFusion));
  }
}

}  // namespace
}  // namespace millrace
