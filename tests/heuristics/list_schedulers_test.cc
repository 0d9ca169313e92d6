// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/list_schedulers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "millrace/cost/analytic_cost.h"
#include "millrace/heuristics/upward_rank.h"
#include "millrace/machine/preset.h"
#include "millrace/simulate/timeline.h"
#include "millrace/workloads/random_graph.h"
#include "tests/reference/problem_builder.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

using testing::ProblemBuilder;
using Scheduler = PlannedAssignment (*)(const CostedGraph&);

PlannedAssignment Heft(const CostedGraph& costed) { return ScheduleHeft(costed, PartialSchedule::Gaps::kFill); }
PlannedAssignment HeftAppend(const CostedGraph& costed) { return ScheduleHeft(costed, PartialSchedule::Gaps::kLeave); }

struct Named {
  const char* name;
  Scheduler schedule;
};
constexpr std::array kAll = {Named{"sequential", ScheduleSequential},
                             Named{"list", ScheduleList},
                             Named{"heft", Heft},
                             Named{"heft-append", HeftAppend},
                             Named{"cpop", ScheduleCpop},
                             Named{"peft", SchedulePeft},
                             Named{"etf", ScheduleEtf},
                             Named{"dls", ScheduleDls},
                             Named{"minmin", ScheduleMinMin},
                             Named{"maxmin", ScheduleMaxMin}};

double Simulated(const CostedGraph& costed, const PlannedAssignment& planned) {
  return MakeTimeline(costed, planned.assignment).makespan;
}

constexpr double kNever = std::numeric_limits<double>::infinity();

// Random problems of every kind: gangs, colocation, missing kinds, memory limits, ties. Null where one can run nowhere.
std::optional<CostedGraph> RandomCosted(Random& random, int i) {
  testing::RandomProblemOptions options;
  options.most_ops = 40;
  options.tidy = i % 2 == 0;
  options.memory = i % 5 == 0;
  const ComputationGraph graph = testing::RandomGraph(random, options);
  const Machine machine = testing::RandomMachine(random, options);
  FusionGroups groups = i % 3 == 0 ? testing::RandomGroups(random, graph) : SingleOpGroups(graph);
  try {
    return MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), std::move(groups));
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

TEST(ListSchedulers, TakeNoLongerThanTheyPromise) {
  Random random(1);
  for (int i = 0; i < 400; ++i) {
    const std::optional<CostedGraph> costed = RandomCosted(random, i);
    if (!costed) continue;
    for (const Named& heuristic : kAll) {
      const PlannedAssignment planned = heuristic.schedule(*costed);
      EXPECT_LE(Simulated(*costed, planned), planned.makespan) << heuristic.name << ", problem " << i;
    }
  }
}

TEST(ListSchedulers, TakeNoLongerThanTheyPromiseOnLargeGraphsWithManyGaps) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    RandomGraphOptions options;
    options.ops = 2000;
    options.ccr = seed == 0 ? 0.2 : 5;
    options.seed = seed;
    const ComputationGraph graph = MakeRandomGraph("layered", options);
    ProblemBuilder problem(6, 1e9);
    const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, problem.machine), SingleOpGroups(graph));
    for (const Named& heuristic : kAll) {
      const PlannedAssignment planned = heuristic.schedule(costed);
      EXPECT_LE(Simulated(costed, planned), planned.makespan) << heuristic.name;
    }
  }
}

// What the heuristics of (ready group, device) pairs do, straight from their papers: all pairs looked at in every step.
enum class Rule { kEtf, kDls, kMinMin, kMaxMin };

PlannedAssignment ByLookingAtAllPairs(const CostedGraph& costed, Rule rule) {
  PartialSchedule schedule(costed, PartialSchedule::Gaps::kLeave);
  const std::vector<double> medians = MedianSeconds(costed);
  const std::vector<double> levels =
      UpwardRanks(costed, rule == Rule::kDls ? medians : MeanSeconds(costed), MeanTransfer{});
  const std::vector<int> position = TopologicalPositions(costed);
  for (int step = 0; step < costed.num_groups; ++step) {
    using Key = std::tuple<double, double, int, double, int, int>;
    std::optional<Key> best;
    for (const std::int32_t group : costed.topological_order) {
      const auto predecessors = costed.Predecessors(group);
      if (schedule.placed(group) || std::any_of(predecessors.begin(), predecessors.end(),
                                                [&](const GroupEdge& edge) { return !schedule.placed(edge.group); }))
        continue;
      schedule.Consider(group);
      std::optional<Key> best_here;
      for (int device = 0; device < costed.num_devices; ++device) {
        if (!schedule.MayRun(group, device)) continue;
        const double start = schedule.EarliestStart(device);
        const double seconds = costed.Seconds(group, device);
        const double level = levels[static_cast<std::size_t>(group)];
        const double median = medians[static_cast<std::size_t>(group)];
        double score = 0;
        double second = 0;
        switch (rule) {
          case Rule::kEtf:
            score = start;
            second = -level;
            break;
          case Rule::kDls:
            score = -(level - start + (median - seconds));
            break;
          case Rule::kMinMin:
          case Rule::kMaxMin:
            score = start + seconds;
            break;
        }
        const Key key{score,
                      second,
                      position[static_cast<std::size_t>(group)],
                      rule == Rule::kMaxMin ? 0.0 : seconds * costed.topology.UnitsOf(device),
                      device,
                      group};
        if (!best_here || key < *best_here) best_here = key;
      }
      if (!best_here) continue;
      if (!best || (rule == Rule::kMaxMin ? std::get<0>(*best_here) > std::get<0>(*best) : *best_here < *best))
        best = best_here;
    }
    const int group = std::get<5>(*best);
    schedule.Consider(group);
    schedule.Place(std::get<4>(*best));
  }
  return schedule.Finish();
}

// Without ties of floating-point noise: seconds and sizes are dyadic, so scores are exact.
TEST(DynamicSchedulers, ChooseAsIfTheyHadLookedAtAllPairs) {
  Random random(2);
  for (int i = 0; i < 300; ++i) {
    testing::RandomProblemOptions options;
    options.most_ops = 40;
    options.tidy = true;
    options.colocate = false;
    options.gangs = i % 2 == 0;
    const ComputationGraph graph = testing::RandomGraph(random, options);
    const Machine machine = testing::RandomMachine(random, options);
    const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
    EXPECT_EQ(ScheduleEtf(costed).makespan, ByLookingAtAllPairs(costed, Rule::kEtf).makespan) << "etf, problem " << i;
    EXPECT_EQ(ScheduleDls(costed).makespan, ByLookingAtAllPairs(costed, Rule::kDls).makespan) << "dls, problem " << i;
    EXPECT_EQ(ScheduleMinMin(costed).makespan, ByLookingAtAllPairs(costed, Rule::kMinMin).makespan) << "minmin " << i;
  }
}

TEST(MaxMin, ChoosesAsIfItHadLookedAtAllPairs) {
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    testing::RandomProblemOptions options;
    options.most_ops = 40;
    options.tidy = true;
    options.colocate = options.gangs = false;
    const ComputationGraph graph = testing::RandomGraph(random, options);
    const Machine machine = testing::RandomMachine(random, options);
    const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
    EXPECT_NEAR(ScheduleMaxMin(costed).makespan, ByLookingAtAllPairs(costed, Rule::kMaxMin).makespan, 1e-9)
        << "problem " << i;
  }
}

TEST(Heft, FillsAnIdleGapBeforeAppending) {
  // p0 waits for b's input while only b is of high rank; the independent op fits into the wait.
  ProblemBuilder problem(1);
  Device second = problem.machine.devices[0];
  second.name = second.kind = "p1";
  second.units = {1};
  problem.machine.devices.push_back(second);
  const int a = problem.AddOp({kNever, 4});
  const int b = problem.AddOp({10, kNever});
  const int filler = problem.AddOp({3, kNever});
  problem.AddEdge(a, b, 1);
  const CostedGraph costed = problem.Price();
  const PlannedAssignment filled = Heft(costed);
  EXPECT_DOUBLE_EQ(filled.makespan, 15);
  EXPECT_DOUBLE_EQ(Simulated(costed, filled), 15);
  EXPECT_EQ(filled.assignment.sequence, (std::vector<int>{filler, a, b}));
  EXPECT_DOUBLE_EQ(HeftAppend(costed).makespan, 18);
}

TEST(ListSchedulers, ChooseAColocationsDeviceForAllItsMembers) {
  // Alone the first op is a little faster on p0, but its partner is far slower there.
  ProblemBuilder problem(2);
  const int first = problem.AddOp({1, 2}, "pair");
  const int second = problem.AddOp({50, 3}, "pair");
  problem.AddEdge(first, second, 0);
  const CostedGraph costed = problem.Price();
  for (const Named& heuristic : kAll) {
    if (std::string(heuristic.name) == "list" || std::string(heuristic.name) == "cpop") continue;
    EXPECT_EQ(heuristic.schedule(costed).assignment.placement, (std::vector<int>{1, 1})) << heuristic.name;
  }
}

TEST(ListSchedulers, SpreadTheStagesOfAPipelineThoughTheFirstBatchFindsEveryDeviceIdle) {
  constexpr int kStages = 4, kBatches = 8;
  ProblemBuilder problem(kStages);
  for (int batch = 0; batch < kBatches; ++batch) {
    for (int stage = 0; stage < kStages; ++stage) {
      const int op = problem.AddOp(std::vector<double>(kStages, 1), "stage" + std::to_string(stage));
      if (stage > 0) problem.AddEdge(op - 1, op, 0.5);
    }
  }
  const CostedGraph costed = problem.Price();
  for (const Named& heuristic : kAll) {
    const std::string name = heuristic.name;
    if (name == "sequential" || name == "list" || name == "cpop") continue;
    const std::vector<int> placement = heuristic.schedule(costed).assignment.placement;
    EXPECT_EQ(std::set<int>(placement.begin(), placement.end()).size(), 4u) << name;
    EXPECT_LT(Simulated(costed, heuristic.schedule(costed)), 16) << name << " takes half of one device's time";
  }
}

// Two cores and both together as a third device.
ProblemBuilder GangProblem() {
  ProblemBuilder problem(3);
  problem.machine.devices[2].units = {0, 1};
  return problem;
}

TEST(Heft, UsesAGangWhereThatIsFaster) {
  ProblemBuilder problem = GangProblem();
  int before = problem.AddOp({10, 10, 6});
  for (int i = 0; i < 3; ++i) {
    const int next = problem.AddOp({10, 10, 6});
    problem.AddEdge(before, next, 0);
    before = next;
  }
  const CostedGraph costed = problem.Price();
  EXPECT_EQ(Heft(costed).assignment.placement, (std::vector<int>{2, 2, 2, 2}));
  EXPECT_DOUBLE_EQ(Simulated(costed, Heft(costed)), 24);
}

TEST(Heft, LeavesAGangAloneWhereItsUnitsDoBetterApart) {
  ProblemBuilder problem = GangProblem();
  problem.AddOp({10, 10, 11});
  problem.AddOp({10, 10, 11});
  const CostedGraph costed = problem.Price();
  EXPECT_DOUBLE_EQ(Simulated(costed, Heft(costed)), 10);
}

TEST(Sequential, StaysOnTheDeviceOfTheLeastTotal) {
  ProblemBuilder problem(3);
  problem.AddOp({5, 4, 9});
  problem.AddOp({5, 4, 1});
  problem.AddOp({5, 4, 9});
  const CostedGraph costed = problem.Price();
  EXPECT_EQ(ScheduleSequential(costed).assignment.placement, (std::vector<int>{1, 1, 1}));
  EXPECT_DOUBLE_EQ(ScheduleSequential(costed).makespan, 12);
}

TEST(Sequential, LeavesItsDeviceOnlyForWhatThatCannotRun) {
  ProblemBuilder problem(3);
  problem.AddOp({5, 1, 9});
  problem.AddOp({5, kNever, 3});
  problem.AddOp({5, 1, 9});
  const CostedGraph costed = problem.Price();
  EXPECT_EQ(ScheduleSequential(costed).assignment.placement, (std::vector<int>{1, 2, 1}));
}

TEST(ListSchedulers, DoNotCareWhatEqualDevicesAreCalled) {
  Random random(4);
  for (int i = 0; i < 50; ++i) {
    const ComputationGraph graph = testing::RandomGraph(random, {.most_ops = 40, .kinds = false});
    ProblemBuilder problem(4, 2);
    const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, problem.machine), SingleOpGroups(graph));
    std::reverse(problem.machine.devices.begin(), problem.machine.devices.end());
    const CostedGraph renamed = MakeCostedGraph(*MakeAnalyticCostModel(graph, problem.machine), SingleOpGroups(graph));
    for (const Named& heuristic : kAll)
      EXPECT_EQ(heuristic.schedule(costed).makespan, heuristic.schedule(renamed).makespan) << heuristic.name;
  }
}

// Unlike devices and links, random times: no two choices are equally good. `list` has ties all the same, between
// devices that are all still free.
TEST(ListSchedulers, PermuteTheirPlansAsTheDevicesArePermuted) {
  Random random(5);
  constexpr int kDevices = 5;
  for (int i = 0; i < 100; ++i) {
    ProblemBuilder problem(kDevices);
    problem.machine.default_link.reset();
    for (int from = 0; from < kDevices; ++from) {
      for (int to = 0; to < kDevices; ++to) {
        if (from != to) problem.machine.links.push_back({from, to, random.Uniform(0, 0.2), random.Uniform(0.5, 5), {}});
      }
    }
    const int ops = 2 + static_cast<int>(random.Below(40));
    for (int op = 0; op < ops; ++op) {
      std::vector<double> seconds;
      for (int d = 0; d < kDevices; ++d) seconds.push_back(random.Uniform(0.1, 2));
      problem.AddOp(seconds);
      for (int from = 0; from < op; ++from) {
        if (random.Uniform() < 3.0 / ops) problem.AddEdge(from, op, random.Uniform(0.1, 2));
      }
    }
    std::vector<int> renamed = {0, 1, 2, 3, 4};
    for (std::size_t d = renamed.size(); d > 1; --d) std::swap(renamed[d - 1], renamed[random.Below(d)]);
    ProblemBuilder other = problem;
    for (int d = 0; d < kDevices; ++d)
      other.machine.devices[static_cast<std::size_t>(renamed[static_cast<std::size_t>(d)])] =
          problem.machine.devices[static_cast<std::size_t>(d)];
    for (Link& link : other.machine.links) {
      link.from = renamed[static_cast<std::size_t>(link.from)];
      link.to = renamed[static_cast<std::size_t>(link.to)];
    }
    const CostedGraph costed = problem.Price();
    const CostedGraph permuted = other.Price();
    for (const Named& heuristic : kAll) {
      if (std::string(heuristic.name) == "list") continue;
      PlannedAssignment expected = heuristic.schedule(costed);
      for (int& device : expected.assignment.placement) device = renamed[static_cast<std::size_t>(device)];
      const PlannedAssignment planned = heuristic.schedule(permuted);
      EXPECT_EQ(planned.assignment.placement, expected.assignment.placement) << heuristic.name << ", problem " << i;
      EXPECT_EQ(planned.assignment.sequence, expected.assignment.sequence) << heuristic.name << ", problem " << i;
      EXPECT_DOUBLE_EQ(Simulated(permuted, planned), Simulated(costed, heuristic.schedule(costed))) << heuristic.name;
    }
  }
}

// Each with one cable to a switch, over which it sends and receives at once.
Machine Hosts(int count) {
  Machine machine = *MachinePreset("homogeneous:" + std::to_string(count));
  for (int from = 0; from < count; ++from) {
    for (int to = 0; to < count; ++to) {
      if (from != to) machine.links.push_back({from, to, 1e-5, 1e10, from, count + to});
    }
  }
  return machine;
}

// Where links are shared a scheduler that reserves them does better than one that does not know. Those that choose
// among all ready groups (etf, dls, minmin) know of a group's transfers only as of when it became ready, and gain
// nothing.
TEST(ListSchedulers, PlanForSharedLinksWhereTheProxyIsContended) {
  constexpr int kGraphs = 12;
  const std::vector<Named> heuristics{
      {"heft", Heft}, {"heft-append", HeftAppend}, {"cpop", ScheduleCpop}, {"maxmin", ScheduleMaxMin}};
  const auto expect_gain = [](const Named& heuristic, const Machine& machine) {
    double log_ratio = 0;
    for (int i = 0; i < kGraphs; ++i) {
      RandomGraphOptions options;
      options.ops = 120;
      options.ccr = 3;
      options.seed = static_cast<std::uint64_t>(i);
      const ComputationGraph graph = MakeRandomGraph(i % 2 == 0 ? "layered" : "sbm", options);
      const CostedGraph linear = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
      const CostedGraph contended =
          MakeCostedGraph(*MakeAnalyticCostModel(graph, machine, Proxy::kContended), SingleOpGroups(graph));
      log_ratio += std::log(Simulated(contended, heuristic.schedule(contended)) /
                            Simulated(contended, heuristic.schedule(linear)));
    }
    EXPECT_LT(std::exp(log_ratio / kGraphs), 0.98) << heuristic.name << " on " << machine.name;
  };
  for (const Named& heuristic : heuristics) {
    expect_gain(heuristic, *MachinePreset("p100x8"));
    expect_gain(heuristic, Hosts(6));
  }
}

}  // namespace
}  // namespace millrace
