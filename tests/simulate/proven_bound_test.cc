// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/proven_bound.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/machine/preset.h"
#include "millrace/simulate/bounds.h"
#include "millrace/simulate/energy_bound.h"
#include "millrace/simulate/joint_arrival.h"
#include "millrace/simulate/narrowed.h"
#include "millrace/simulate/path_bounds.h"
#include "millrace/simulate/reversed.h"
#include "millrace/simulate/time_step.h"
#include "millrace/simulate/timeline.h"
#include "millrace/simulate/work_bound.h"
#include "tests/reference/random_problem.h"
#include "tests/reference/sanitized.h"
#include "tests/reference/slow_optimum.h"

namespace millrace {
namespace {

constexpr double kOpen = std::numeric_limits<double>::infinity();
constexpr double kAlmost = 1 + 1e-9;

CostedGraph CostedSingles(const ComputationGraph& graph, const Machine& machine) {
  return MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
}

// Small, of every kind that random_problem.h knows.
CostedGraph SmallProblem(Random& random, int round, int most_ops) {
  testing::RandomProblemOptions options;
  options.most_ops = most_ops;
  options.most_devices = 3;
  options.tidy = round % 3 == 0;
  options.links = round % 4 > 0;
  options.memory = round % 7 == 0;
  const ComputationGraph graph = testing::RandomGraph(random, options);
  return CostedSingles(graph, testing::RandomMachine(random, options));
}

// Ops of these seconds, each a tensor to those that follow it.
ComputationGraph Tasks(const std::vector<double>& seconds, const std::vector<std::pair<int, int>>& edges,
                       double bytes) {
  GraphData data;
  for (const double each : seconds) {
    Op op;
    op.seconds.everywhere = each;
    data.ops.push_back(op);
  }
  for (const auto& [from, to] : edges) {
    Tensor tensor;
    tensor.producer = from;
    tensor.consumers = {to};
    tensor.bytes = bytes;
    data.tensors.push_back(tensor);
  }
  return ComputationGraph(std::move(data));
}

TEST(ProvenBound, IsNoneAboveTheEnumeratedOptimumOfEitherTimeline) {
  Random random(71);
  int above_the_other = 0;
  for (int round = 0; round < testing::Rounds(400); ++round) {
    const CostedGraph costed = SmallProblem(random, round, 5);
    const double linear = testing::SlowOptimum(costed);
    const double contended = testing::SlowContendedOptimum(costed);
    const double bound = ProvenBound(costed);
    ASSERT_LE(bound, linear * kAlmost) << round;
    ASSERT_LE(bound, contended * kAlmost) << round;
    ASSERT_LE(LinearProvenBound(costed), linear * kAlmost) << round;
    ASSERT_GE(bound, LowerBound(costed)) << round;
    above_the_other += bound > LowerBound(costed) * 1.05 ? 1 : 0;
  }
  EXPECT_GT(above_the_other, testing::Rounds(30));  // else the one bound would do
}

TEST(ProvenBound, IsMadeOfBoundsEachNoneAboveTheOptimum) {
  Random random(72);
  for (int round = 0; round < 400; ++round) {
    const CostedGraph costed = SmallProblem(random, round, 5);
    const double optimum = testing::SlowOptimum(costed);
    if (optimum == kOpen) continue;
    const PathBounds paths = MakePathBounds(costed);
    ASSERT_LE(paths.longest, optimum * kAlmost) << round;
    ASSERT_LE(MakeWorkBound(costed).seconds, optimum * kAlmost) << round;
    ASSERT_LE(EnergyBound(costed, paths, LowerBound(costed)), optimum * kAlmost) << round;
    ASSERT_LE(RoundUpToStep(LowerBound(costed), TimeStep(costed)), optimum * kAlmost) << round;
  }
}

TEST(PathBounds, AreKeptByEveryGroupOfEveryPlan) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const ComputationGraph graph = testing::RandomGraph(random);
    const Machine machine = testing::RandomMachine(random);
    const CostedGraph costed = CostedSingles(graph, machine);
    const PathBounds paths = MakePathBounds(costed);
    for (int round = 0; round < 4; ++round) {
      const Plan plan = testing::RandomPlan(random, graph, machine, costed.groups);
      const Timeline timeline = MakeTimeline(costed, {plan.placement, plan.sequence});
      for (std::size_t group = 0; group < plan.placement.size(); ++group) {
        const std::size_t at =
            group * static_cast<std::size_t>(costed.num_devices) + static_cast<std::size_t>(plan.placement[group]);
        ASSERT_LE(paths.head[at], timeline.start[group] * kAlmost) << seed;
        ASSERT_LE(timeline.finish[group] + paths.tail[at], timeline.makespan * kAlmost) << seed;
      }
    }
  }
}

TEST(PathBounds, AreNoOthersWhereOneOpAloneTellsDevicesApart) {
  int checked = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Random random(seed);
    const ComputationGraph graph = testing::RandomGraph(random);
    CostedGraph costed = CostedSingles(graph, *MachinePreset("homogeneous:3,latency=1e-3,bandwidth=1e9"));
    const PathBounds alike = MakePathBounds(costed);
    const auto lonely = [&costed](int group) {
      return costed.Predecessors(group).empty() && costed.Successors(group).empty() &&
             costed.colocation[static_cast<std::size_t>(group)] < 0;
    };
    int other = 0;
    while (other < costed.num_groups && !lonely(other)) ++other;
    if (other == costed.num_groups) continue;
    costed.seconds[3 * static_cast<std::size_t>(other)] *= 2;
    const PathBounds apart = MakePathBounds(costed);
    EXPECT_EQ(apart.head, alike.head) << seed;
    EXPECT_EQ(apart.tail, alike.tail) << seed;
    ++checked;
  }
  EXPECT_GT(checked, 3);
}

// Two ops of 3 s feed one of 1 s; a transfer takes 2 s. Apart: 3 + 2 + 1. On one device: 3 + 3 + 1.
TEST(PathBounds, MakePredecessorsWaitForATransferOrForEachOther) {
  const ComputationGraph graph = Tasks({3, 3, 1}, {{0, 2}, {1, 2}}, 2);
  const CostedGraph costed = CostedSingles(graph, *MachinePreset("homogeneous:3,bandwidth=1"));
  EXPECT_EQ(MakePathBounds(costed).longest, 6);
  const CostedGraph dear =
      CostedSingles(Tasks({3, 3, 1}, {{0, 2}, {1, 2}}, 9), *MachinePreset("homogeneous:3,bandwidth=1"));
  EXPECT_EQ(MakePathBounds(dear).longest, 7);
  EXPECT_EQ(testing::SlowOptimum(dear), 7);
}

TEST(JointArrival, SharesADeviceWithAsManyAsPay) {
  JointArrival joint;
  EXPECT_EQ(joint.Earliest(), 0);
  joint.Add({1, 2, 9});
  EXPECT_EQ(joint.Earliest(), 3);
  joint.Add({0, 2, 9});
  EXPECT_EQ(joint.Earliest(), 4);  // 0..2, 2..4
  joint.Add({0, 2, 5});
  EXPECT_EQ(joint.Earliest(), 5);  // the third sends
  joint.Add({0, kOpen, 8});
  EXPECT_EQ(joint.Earliest(), 8);
}

TEST(WorkBound, KnowsThatSlowDevicesDoNotWorkAsFastOnes) {
  GraphData data;
  data.ops.resize(6);
  for (Op& op : data.ops) op.seconds.by_kind = {{"fast", 1.0}, {"slow", 5.0}};
  const ComputationGraph graph(std::move(data));
  Machine machine;
  machine.devices = {{"0", "fast", {0}, 1, 1, std::nullopt, 0}, {"1", "slow", {1}, 1, 1, std::nullopt, 0}};
  const CostedGraph costed = CostedSingles(graph, machine);
  EXPECT_EQ(LowerBound(costed), 3);
  EXPECT_NEAR(MakeWorkBound(costed).seconds, 5, 1e-3);  // 5 ops on the one, 1 on the other: 5 s each
}

// Three independent ops of 2 s between one of 1 s and one of 1 s, two devices: work (1 + 6 + 1) / 2 = 4, path 4, but
// the three need 3 s of two units between 1 and the last second.
TEST(EnergyBound, FindsTheWindowWithTooMuchToDo) {
  const ComputationGraph graph = Tasks({1, 2, 2, 2, 1}, {{0, 1}, {0, 2}, {0, 3}, {1, 4}, {2, 4}, {3, 4}}, 0);
  const CostedGraph costed = CostedSingles(graph, *MachinePreset("homogeneous:2"));
  const PathBounds paths = MakePathBounds(costed);
  EXPECT_EQ(LowerBound(costed), 4);
  EXPECT_NEAR(EnergyBound(costed, paths, 4), 5, 1e-3);
  EXPECT_EQ(ProvenBound(costed), 5);
  EXPECT_EQ(testing::SlowOptimum(costed), 6);
}

TEST(Narrowed, KeepsAllPlansBelowTheLimit) {
  Random random(73);
  int ruled_out = 0;
  for (int round = 0; round < 300; ++round) {
    const CostedGraph costed = SmallProblem(random, round, 5);
    const double optimum = testing::SlowOptimum(costed);
    if (optimum == kOpen || optimum == 0) continue;
    for (const double share : {1 + 1e-6, 1.2, 2.0}) {
      const Narrowed narrowed = NarrowBelow(costed, optimum * share);
      ASSERT_TRUE(narrowed.possible) << round;
      ASSERT_NEAR(testing::SlowOptimum(narrowed.costed), optimum, 1e-9 * optimum) << round;
    }
    ruled_out += NarrowBelow(costed, 0.9 * optimum).possible ? 0 : 1;
  }
  EXPECT_GT(ruled_out, 50);
}

TEST(Reversed, HasTheSameOptimum) {
  Random random(74);
  for (int round = 0; round < 200; ++round) {
    CostedGraph costed = SmallProblem(random, round, 5);
    costed.limited_memory = false;
    costed.topology.memory_bytes.assign(costed.topology.memory_bytes.size(), kOpen);
    const double optimum = testing::SlowOptimum(costed);
    ASSERT_NEAR(testing::SlowOptimum(Reversed(costed)), optimum, 1e-9 * optimum) << round;
  }
}

TEST(TimeStep, IsTheLargestThatDividesEveryTime) {
  const auto step_of = [](const std::vector<double>& seconds, double bytes, const std::string& machine) {
    return TimeStep(CostedSingles(Tasks(seconds, {{0, 1}}, bytes), *MachinePreset(machine)));
  };
  EXPECT_EQ(step_of({6, 9}, 0, "homogeneous:2"), 3);
  EXPECT_EQ(step_of({0.5, 0.75}, 0, "homogeneous:2"), 0.25);
  EXPECT_EQ(step_of({6, 9}, 2, "homogeneous:2,bandwidth=1"), 1);
  EXPECT_EQ(step_of({0.1, 9}, 0, "homogeneous:2"), 0);
  EXPECT_EQ(step_of({6, 9}, 0.1, "homogeneous:2,bandwidth=1"), 0);
  EXPECT_EQ(RoundUpToStep(7, 3), 9);
  EXPECT_EQ(RoundUpToStep(9, 3), 9);
  EXPECT_EQ(RoundUpToStep(7.5, 0), 7.5);
}

}  // namespace
}  // namespace millrace
