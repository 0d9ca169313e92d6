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
#include "millrace/fusion/greedy_fusion.h"
#include "millrace/go/blocks.h"
#include "millrace/go/decoder.h"
#include "millrace/go/network.h"
#include "millrace/go/sampler.h"
#include "millrace/heuristics/placed_list.h"
#include "millrace/plan/fusion_table.h"
#include "millrace/plan/verify.h"
#include "millrace/simulate/peak_memory.h"
#include "millrace/simulate/timeline.h"
#include "tests/reference/random_problem.h"
#include "tests/reference/sanitized.h"
#include "tests/reference/shaken_weights.h"
#include "tests/reference/slow_simulator.h"

namespace millrace {
namespace {

struct DecoderCase {
  explicit DecoderCase(std::uint64_t seed, int most_ops = 24, bool memory = false)
      : random(seed),
        graph(testing::RandomGraph(random, Options(most_ops, memory))),
        machine(testing::RandomMachine(random, Options(most_ops, memory))),
        model(MakeAnalyticCostModel(graph, machine)),
        problem(*model),
        decoder(problem) {}
  DecoderCase(const DecoderCase&) = delete;
  DecoderCase& operator=(const DecoderCase&) = delete;

  static testing::RandomProblemOptions Options(int most_ops, bool memory) {
    testing::RandomProblemOptions options;
    options.most_ops = most_ops;
    options.memory = memory;
    return options;
  }

  // Devices at random, those a colocation cannot use among them: decoding has to repair such.
  Decisions RandomDecisions() {
    Decisions decisions;
    const auto levels = [this] {
      std::vector<std::uint8_t> chosen;
      for (int row = 0; row < problem.num_rows(); ++row)
        chosen.push_back(static_cast<std::uint8_t>(random.Below(kLevels)));
      return chosen;
    };
    if (random.Below(4) > 0) {
      for (int colocation = 0; colocation < problem.num_colocations(); ++colocation)
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
  GoProblem problem;
  GoDecoder decoder;
};

GoPolicy SomePolicy(std::uint64_t seed) {
  Random random(seed);
  const Weights weights = InitialGoWeights(random);
  return GoPolicy(testing::Shaken(weights, random, 0.05));
}

TEST(DecodedPlan, IsValidWhateverWasDecidedAndItsTimesAreTrue) {
  int fused = 0, infeasible = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    DecoderCase problem(seed, 24, seed % 2 == 0);
    const DecodedPlan decoded = problem.decoder.Decode(problem.RandomDecisions());
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

TEST(DecodedPlan, IsPlacedTheSameByTheDevicesItIsWrittenDownWith) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    DecoderCase problem(seed);
    Decisions decisions = problem.RandomDecisions();
    const DecodedPlan decoded = problem.decoder.Decode(decisions);
    decisions.device = DevicesByColocation(problem.problem, *decoded.costed, decoded.assignment.placement);
    const DecodedPlan again = problem.decoder.Decode(decisions);
    ASSERT_EQ(again.costed->groups, decoded.costed->groups);
    EXPECT_EQ(again.assignment.placement, decoded.assignment.placement);
  }
}

TEST(DecodedPlan, LevelZeroFusesNothingAndNoLevelsFuseGreedily) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    DecoderCase problem(seed);
    Decisions decisions;
    EXPECT_EQ(problem.decoder.Decode(decisions).costed->groups, GreedyFusion(problem.graph));
    decisions.fusion.assign(static_cast<std::size_t>(problem.problem.num_rows()), 0);
    EXPECT_EQ(problem.decoder.Decode(decisions).costed->groups.size(),
              static_cast<std::size_t>(problem.graph.num_ops()));
  }
}

// A Relu is read by two others: only one pair fits in with the Conv's group limit of this machine's rules, or the level
// says which comes first.
TEST(DecodedPlan, HasTheGroupsThatAreGivenWhateverWasDecidedOnFusion) {
  int decided = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    DecoderCase problem(seed, 24, seed % 2 == 0);
    const CostedGraph costed = MakeCostedGraph(*problem.model, testing::RandomGroups(problem.random, problem.graph));
    const GoDecoder decoder(problem.problem, costed);
    Decisions decisions = problem.RandomDecisions();
    const DecodedPlan decoded = decoder.Decode(decisions);
    EXPECT_EQ(decoded.costed.get(), &costed);
    EXPECT_EQ(WhyNotValid(problem.graph, problem.machine, decoded.plan()), std::nullopt);
    const testing::SlowTimeline slow = testing::SlowSimulate(problem.graph, problem.machine, decoded.plan());
    EXPECT_NEAR(decoded.makespan, slow.makespan, 1e-9 * slow.makespan);
    EXPECT_EQ(decoded.fits, slow.feasible);
    decided += decisions.Has(Task::kFusion) ? 1 : 0;
    decisions.fusion.clear();
    EXPECT_EQ(decoder.Decode(decisions).assignment, decoded.assignment);
    // Greedy groups are what is fused where nothing is decided.
    const CostedGraph greedy = MakeCostedGraph(*problem.model, GreedyFusion(problem.graph));
    EXPECT_EQ(GoDecoder(problem.problem, greedy).Decode(decisions).assignment,
              problem.decoder.Decode(decisions).assignment);
  }
  EXPECT_GT(decided, 50);
}

TEST(DecodedPlan, MergesTheHighestLevelFirst) {
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
  const GoProblem problem(*model);
  const GoDecoder decoder(problem);
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
  const GoProblem relu_problem(*relu_model);
  const GoDecoder relu_decoder(relu_problem);
  Decisions order;
  for (int low : {1, 16, 8}) {
    order.fusion.assign(17, 5);
    order.fusion[static_cast<std::size_t>(relu_problem.RowOf(low))] = 1;
    const FusionGroups groups = relu_decoder.Groups(order);
    ASSERT_EQ(groups.size(), 2u);
    EXPECT_EQ(groups[1].front(), low);
  }
}

TEST(DecodedPlan, GroupsGoWhereTheirAnchorWasPlaced) {
  int checked = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    DecoderCase problem(seed);
    Decisions decisions = problem.RandomDecisions();
    if (!decisions.Has(Task::kPlacement)) continue;
    const DecodedPlan plan = problem.decoder.Decode(decisions);
    for (std::size_t g = 0; g < plan.costed->groups.size(); ++g) {
      if (plan.costed->colocation[g] >= 0) continue;
      for (const OpId op : plan.costed->groups[g]) {
        if (FusionRoleOf(problem.graph.op(op).type) != FusionRole::kAnchor) continue;
        const int wanted =
            decisions.device[static_cast<std::size_t>(problem.problem.ColocationOf(problem.problem.RowOf(op)))];
        if (!std::isfinite(plan.costed->Seconds(static_cast<int>(g), wanted))) continue;
        EXPECT_EQ(plan.assignment.placement[g], wanted);
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 50);
}

TEST(GoSampler, TheSameSeedGivesTheSameDrawsAtAnyNumberOfThreads) {
  for (const int ops : {6, 60}) {
    DecoderCase problem(7, ops);
    const PreparedGoPolicy policy = SomePolicy(1).Prepare(problem.problem);
    GoDrawOptions one, three;
    three.threads = 3;
    const auto first = DrawGo(problem.problem, policy, 7, one, Random(4));
    const auto second = DrawGo(problem.problem, policy, 7, three, Random(4));
    const auto single = DrawGo(problem.problem, policy, 1, three, Random(4));
    for (std::size_t i = 0; i < first.size(); ++i) {
      EXPECT_EQ(first[i].iterations, second[i].iterations);
      EXPECT_EQ(first[i].log_probabilities, second[i].log_probabilities);
    }
    EXPECT_EQ(single.front().iterations, first.front().iterations);
  }
}

TEST(GoSampler, DrawsTheSameInOneBatchAsInTwo) {
  DecoderCase problem(8);
  const PreparedGoPolicy policy = SomePolicy(1).Prepare(problem.problem);
  const auto batch = [&](std::int64_t first, int count) {
    GoDrawOptions options;
    options.first = first;
    std::vector<std::vector<Decisions>> drawn;
    for (GoDraw& draw : DrawGo(problem.problem, policy, count, options, Random(4)))
      drawn.push_back(std::move(draw.iterations));
    return drawn;
  };
  std::vector<std::vector<Decisions>> halves = batch(0, 5);
  for (std::vector<Decisions>& draw : batch(5, 5)) halves.push_back(std::move(draw));
  EXPECT_EQ(batch(0, 10), halves);
  EXPECT_NE(batch(0, 5), batch(5, 5));
}

TEST(GoSampler, DrawsWithTheProbabilitiesItStates) {
  int likelier = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    DecoderCase problem(seed);
    const PreparedGoPolicy policy = SomePolicy(seed).Prepare(problem.problem);
    GoDrawOptions options;
    options.iterations = 3;
    const auto draws = DrawGo(problem.problem, policy, 3, options, Random(seed));
    options.softmax_temperature = 0;
    const auto greedy = DrawGo(problem.problem, policy, 1, options, Random(seed));
    for (const GoDraw& draw : draws) {
      ASSERT_EQ(draw.iterations.size(), 3u);
      for (std::size_t t = 0; t < 3; ++t) {
        const Decisions before = t > 0 ? draw.iterations[t - 1] : Decisions{};
        const double stated = draw.log_probabilities[t];
        EXPECT_NEAR(LogProbability(problem.problem, policy, before, draw.iterations[t]), stated,
                    1e-9 * std::max(1.0, std::fabs(stated)));
      }
      likelier += draw.log_probabilities[0] <= greedy[0].log_probabilities[0] + 1e-9 ? 1 : 0;
      for (int colocation = 0; colocation < problem.problem.num_colocations(); ++colocation) {
        const auto row = problem.problem.RowsOf(colocation).front();
        EXPECT_TRUE(
            std::isfinite(problem.problem.Seconds(row, draw.decisions().device[static_cast<std::size_t>(colocation)])));
      }
    }
  }
  // A later task's likeliest choices may be less likely than another's after other choices of an earlier one.
  EXPECT_GT(likelier, 50);
}

TEST(GoSampler, SharesChanceWithinBlocksAndKeepsTheProbabilityOfEveryChoice) {
  const int draws = testing::Rounds(4000);
  const double deviation = std::sqrt(0.5 / draws);  // of the difference of two shares, at most
  DecoderCase problem(3);
  const PreparedGoPolicy policy = SomePolicy(3).Prepare(problem.problem);
  const int colocations = problem.problem.num_colocations();
  ASSERT_GT(colocations, 4);
  GoBlocks all;  // one block
  all.block_of.assign(static_cast<std::size_t>(colocations), 0);
  all.offsets = {0, colocations};
  for (int colocation = 0; colocation < colocations; ++colocation) all.colocations.push_back(colocation);

  const auto draw = [&](const GoBlocks* blocks) {
    GoDrawOptions options{.iterations = 1, .blocks = blocks};
    return DrawGo(problem.problem, policy, draws, options, Random(5));
  };
  const std::vector<GoDraw> alone = draw(nullptr), together = draw(&all);
  const auto devices = static_cast<std::size_t>(problem.problem.num_devices());
  const auto shares = [&](const std::vector<GoDraw>& drawn, std::size_t colocation) {
    std::vector<double> share(devices, 0.0);
    for (const GoDraw& of : drawn) share[static_cast<std::size_t>(of.decisions().device[colocation])] += 1.0 / draws;
    return share;
  };
  const auto agreeing = [&](const std::vector<GoDraw>& drawn) {  // pairs of neighbours on one device
    double pairs = 0;
    for (const GoDraw& of : drawn) {
      for (std::size_t i = 1; i < of.decisions().device.size(); ++i)
        pairs += of.decisions().device[i] == of.decisions().device[i - 1] ? 1.0 / draws : 0;
    }
    return pairs;
  };
  for (std::size_t colocation = 0; colocation < static_cast<std::size_t>(colocations); ++colocation) {
    const std::vector<double> by_itself = shares(alone, colocation), with_block = shares(together, colocation);
    for (std::size_t d = 0; d < devices; ++d) EXPECT_NEAR(by_itself[d], with_block[d], 5 * deviation);
  }
  EXPECT_GT(agreeing(together), agreeing(alone) * 1.02);
}

// Devices that differ in name and unit only may be listed in any order: the plan is the same but for these.
TEST(GoSampler, DoesNotCareInWhichOrderEqualDevicesAreListed) {
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
  const GoPolicy policy = SomePolicy(2);
  const auto plans_on = [&](const Machine& on) {
    const auto model = MakeAnalyticCostModel(graph, on);
    const GoProblem problem(*model);
    const GoDecoder decoder(problem);
    std::vector<Plan> plans;
    for (const GoDraw& draw : DrawGo(problem, policy.Prepare(problem), 5, {}, Random(9)))
      plans.push_back(decoder.Decode(draw.decisions()).plan());
    return plans;
  };
  EXPECT_EQ(plans_on(machine), plans_on(other));
}

TEST(GoSampler, LeavesOutTasksThatAreSwitchedOff) {
  DecoderCase problem(3);
  const PreparedGoPolicy policy = SomePolicy(5).Prepare(problem.problem);
  GoDrawOptions options;
  options.tasks = {true, false, true};
  for (const GoDraw& draw : DrawGo(problem.problem, policy, 3, options, Random(1))) {
    EXPECT_TRUE(draw.decisions().Has(Task::kPlacement));
    EXPECT_FALSE(draw.decisions().Has(Task::kPriority));
    EXPECT_TRUE(draw.decisions().Has(Task::kFusion));
  }
}

TEST(GoSampler, DrawsLevelsOfFusionWhereOpsCanBeFusedAndNowhereElse) {
  int fusible = 0, fused = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    DecoderCase problem(seed);
    const PreparedGoPolicy policy = SomePolicy(seed).Prepare(problem.problem);
    for (const GoDraw& draw : DrawGo(problem.problem, policy, 4, {}, Random(seed))) {
      const std::vector<std::uint8_t>& levels = draw.decisions().fusion;
      for (std::size_t row = 0; row < levels.size(); ++row) {
        const bool can = problem.problem.fusible()[row] != 0;
        EXPECT_TRUE(can || levels[row] == 0);
        fusible += can ? 1 : 0;
        fused += levels[row] > 0 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(fused, fusible / 10);
}

TEST(GoSampler, KeepsWhatIsGivenAndTellsItToTheTasksAfterIt) {
  DecoderCase problem(3);
  const PreparedGoPolicy policy = SomePolicy(5).Prepare(problem.problem);
  GoDrawOptions options;
  options.tasks = {false, true, true};
  const std::vector<GoDraw> untold = DrawGo(problem.problem, policy, 1, options, Random(1));
  for (const int device : {0, 1}) {
    options.given.device.assign(static_cast<std::size_t>(problem.problem.num_colocations()), device);
    const std::vector<GoDraw> told = DrawGo(problem.problem, policy, 1, options, Random(1));
    for (const Decisions& decisions : told[0].iterations) EXPECT_EQ(decisions.device, options.given.device);
    EXPECT_NE(told[0].log_probabilities, untold[0].log_probabilities);
  }
}

}  // namespace
}  // namespace millrace
