// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/placed_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "millrace/cost/analytic_cost.h"
#include "millrace/plan/verify.h"
#include "tests/reference/costed_problem.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

struct PlacedCase {
  explicit PlacedCase(std::uint64_t seed, bool tidy)
      : random(seed),
        graph(testing::RandomGraph(random, Options(tidy))),
        machine(testing::RandomMachine(random, Options(tidy))),
        plan(testing::RandomPlan(random, graph, machine, testing::RandomGroups(random, graph))),
        costed(MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), plan.groups)) {
    for (int group = 0; group < costed.num_groups; ++group) priorities.push_back(static_cast<double>(random.Below(4)));
  }

  static testing::RandomProblemOptions Options(bool tidy) {
    testing::RandomProblemOptions options;
    options.tidy = tidy;
    return options;
  }

  Random random;
  ComputationGraph graph;
  Machine machine;
  Plan plan;
  CostedGraph costed;
  std::vector<double> priorities;
};

TEST(PlacedList, GivesValidPlansThatTheProxyFindsNoLater) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const PlacedCase problem(seed, seed % 2 == 0);
    const PlacedSchedule schedule = SchedulePlaced(problem.costed, problem.plan.placement, problem.priorities);
    EXPECT_EQ(schedule.assignment.placement, problem.plan.placement);
    const Plan plan{problem.costed.groups, schedule.assignment.placement, schedule.assignment.sequence};
    EXPECT_EQ(WhyNotValid(problem.graph, problem.machine, plan), std::nullopt);
    const Timeline timeline = MakeTimeline(problem.costed, schedule.assignment);
    for (std::size_t g = 0; g < timeline.start.size(); ++g)
      EXPECT_LE(timeline.start[g], schedule.timeline.start[g] * (1 + 1e-12));
  }
}

bool ShareUnit(const Topology& topology, int a, int b) {
  for (auto i = topology.device_offsets[static_cast<std::size_t>(a)];
       i < topology.device_offsets[static_cast<std::size_t>(a) + 1]; ++i) {
    for (auto j = topology.device_offsets[static_cast<std::size_t>(b)];
         j < topology.device_offsets[static_cast<std::size_t>(b) + 1]; ++j) {
      if (topology.device_units[static_cast<std::size_t>(i)] == topology.device_units[static_cast<std::size_t>(j)])
        return true;
    }
  }
  return false;
}

// Of two groups of one device the one that starts first is not behind in priority, or the other was not ready yet. What
// becomes ready at that very time may be too late: groups of no length end when they start. No device waits where a
// group could start.
TEST(PlacedList, StartsTheHighestPriorityOfWhatIsReadyAndNeverWaits) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const PlacedCase problem(seed, true);
    const CostedGraph& costed = problem.costed;
    const std::vector<int>& placement = problem.plan.placement;
    const PlacedSchedule schedule = SchedulePlaced(costed, placement, problem.priorities);
    const Timeline& timeline = schedule.timeline;
    std::vector<double> ready(static_cast<std::size_t>(costed.num_groups), 0.0);
    for (int group = 0; group < costed.num_groups; ++group) {
      const auto g = static_cast<std::size_t>(group);
      for (const GroupEdge& edge : costed.Predecessors(group)) {
        const auto p = static_cast<std::size_t>(edge.group);
        ready[g] =
            std::max(ready[g], timeline.finish[p] + costed.TransferSeconds(edge.bytes, placement[p], placement[g]));
      }
      EXPECT_GE(timeline.start[g], ready[g]);
    }
    for (std::size_t a = 0; a < ready.size(); ++a) {
      bool waited_for_units = timeline.start[a] == ready[a];
      for (std::size_t b = 0; b < ready.size(); ++b) {
        if (a == b || !ShareUnit(costed.topology, placement[a], placement[b])) continue;
        waited_for_units = waited_for_units || timeline.finish[b] == timeline.start[a];
        const bool overtaken = timeline.start[b] < timeline.start[a] && ready[a] < timeline.start[b];
        if (overtaken && placement[a] == placement[b]) {
          EXPECT_GE(problem.priorities[b], problem.priorities[a]);
        }
      }
      EXPECT_TRUE(waited_for_units);
    }
  }
}

TEST(PlacedList, WithoutPrioritiesTheFirstReadyGoesFirst) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const PlacedCase problem(seed, true);
    EXPECT_EQ(SchedulePlaced(problem.costed, problem.plan.placement, {}).assignment,
              SchedulePlaced(problem.costed, problem.plan.placement,
                             std::vector<double>(static_cast<std::size_t>(problem.costed.num_groups), 7.0))
                  .assignment);
  }
}

// With a memory for each device, groups that take time and no ties, nothing is left to guess.
TEST(PlacedList, UnderTheContendedProxyStartsEveryGroupWhenTheSimulatorDoes) {
  Random random(9);
  testing::RandomProblemOptions options;
  options.gangs = false;
  int slower_than_linear = 0;
  for (int round = 0; round < 200; ++round) {
    const testing::CostedProblem problem(random, options, Proxy::kContended);
    CostedGraph costed = problem.costed;
    for (double& seconds : costed.seconds) seconds += random.Uniform(0.5, 1);
    std::vector<double> priorities(static_cast<std::size_t>(costed.num_groups));
    for (double& priority : priorities) priority = random.Uniform();
    const PlacedSchedule schedule = SchedulePlaced(costed, problem.Start(random).placement, priorities);
    const Plan plan{costed.groups, schedule.assignment.placement, schedule.assignment.sequence};
    ASSERT_EQ(WhyNotValid(problem.graph, problem.machine, plan), std::nullopt);
    ASSERT_EQ(MakeTimeline(costed, schedule.assignment).start, schedule.timeline.start);
    costed.topology.proxy = Proxy::kLinear;
    slower_than_linear += MakeTimeline(costed, schedule.assignment).makespan < schedule.timeline.makespan ? 1 : 0;
  }
  EXPECT_GT(slower_than_linear, 20);
}

TEST(PlacedList, OneSchedulerMakesOfEachPlacementWhatANewOneDoesOrSaysThatItExceedsALimit) {
  Random random(10);
  int within = 0, above = 0;
  for (int round = 0; round < 100; ++round) {
    const Proxy proxy = round % 2 == 0 ? Proxy::kContended : Proxy::kLinear;
    const testing::CostedProblem problem(random, {}, proxy);
    PlacedScheduler scheduler(problem.costed);
    std::vector<double> priorities(static_cast<std::size_t>(problem.costed.num_groups));
    for (int plans = 0; plans < 8; ++plans) {
      for (double& priority : priorities) priority = random.Uniform();
      const std::vector<int> placement = problem.Start(random).placement;
      const PlacedSchedule whole = SchedulePlaced(problem.costed, placement, priorities);
      const double limit = whole.timeline.makespan * random.Uniform(0.5, 1.2);
      const PlacedSchedule& limited = scheduler.Schedule(placement, priorities, limit);
      if (whole.timeline.makespan > limit) {
        EXPECT_GT(limited.timeline.makespan, limit);
        EXPECT_LE(limited.timeline.makespan, whole.timeline.makespan);
        ++above;
        continue;
      }
      EXPECT_EQ(limited.assignment, whole.assignment);
      EXPECT_EQ(limited.timeline.start, whole.timeline.start);
      EXPECT_EQ(limited.timeline.finish, whole.timeline.finish);
      EXPECT_EQ(limited.timeline.makespan, whole.timeline.makespan);
      ++within;
    }
  }
  EXPECT_GT(within, 100);
  EXPECT_GT(above, 100);
}

}  // namespace
}  // namespace millrace
