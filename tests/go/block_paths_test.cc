// SPDX-License-Identifier: Apache-2.0
#include "millrace/go/block_paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <vector>

#include "millrace/fusion/greedy_fusion.h"
#include "millrace/go/decoder.h"
#include "tests/go/go_case.h"
#include "tests/reference/plain_problem.h"

// Estimates of moves, against the same path drawn out arc by arc.
namespace millrace::testing {
namespace {

constexpr int kPlans = 80;

// The plan with some groups on another device, by recursion over all groups, nothing kept.
struct PlainPaths {
  PlainPaths(const CostedGraph& of, const Assignment& plan)
      : costed(of), assignment(plan), timeline(MakeTimeline(of, plan)) {}

  int DeviceOf(int group) const { return assignment.placement[Index(group)]; }
  bool Share(int a, int b) const { return PlainProblem(costed).ShareUnit(a, b); }
  int PositionOf(int group) const {
    return static_cast<int>(std::find(assignment.sequence.begin(), assignment.sequence.end(), group) -
                            assignment.sequence.begin());
  }

  // The longest path from a group's finish to the end, as the plan is.
  double Behind(int group) const {
    double behind = 0;
    for (int next = 0; next < costed.num_groups; ++next) {
      const double whole = costed.Seconds(next, DeviceOf(next));
      if (PositionOf(next) > PositionOf(group) && Share(DeviceOf(next), DeviceOf(group)))
        behind = std::max(behind, whole + Behind(next));
      for (const GroupEdge& edge : costed.Predecessors(next)) {
        if (edge.group != group) continue;
        behind = std::max(behind,
                          costed.TransferSeconds(edge.bytes, DeviceOf(group), DeviceOf(next)) + whole + Behind(next));
      }
    }
    return behind;
  }

  double Arrival(int group) const {
    double arrival = 0;
    for (const GroupEdge& edge : costed.Predecessors(group))
      arrival = std::max(arrival, moved.count(edge.group) > 0
                                      ? Start(edge.group) + costed.Seconds(edge.group, to)
                                      : timeline.finish[Index(edge.group)] +
                                            costed.TransferSeconds(edge.bytes, DeviceOf(edge.group), to));
    return arrival;
  }

  double Start(int group) const {
    double start = Arrival(group);
    for (int other = 0; other < costed.num_groups; ++other) {
      if (moved.count(other) > 0) {
        if (PositionOf(other) < PositionOf(group)) start = std::max(start, Start(other) + costed.Seconds(other, to));
      } else if (Share(DeviceOf(other), to) && timeline.start[Index(other)] <= Arrival(group)) {
        start = std::max(start, timeline.finish[Index(other)]);
      }
    }
    return start;
  }

  double ToEnd(int group) const {
    double behind = 0;
    for (int other = 0; other < costed.num_groups; ++other) {
      const bool moves = moved.count(other) > 0;
      const double whole =
          costed.Seconds(other, moves ? to : DeviceOf(other)) + (moves ? ToEndIfLater(other, group) : Behind(other));
      if (moves && PositionOf(other) > PositionOf(group)) behind = std::max(behind, whole);
      if (!moves && Share(DeviceOf(other), to) && timeline.start[Index(other)] > Arrival(group))
        behind = std::max(behind, whole);
      for (const GroupEdge& edge : costed.Predecessors(other)) {
        if (edge.group != group) continue;
        behind = std::max(behind, whole + (moves ? 0 : costed.TransferSeconds(edge.bytes, to, DeviceOf(other))));
      }
    }
    return behind;
  }
  double ToEndIfLater(int other, int group) const { return PositionOf(other) > PositionOf(group) ? ToEnd(other) : 0; }

  double Longest() const {
    double longest = 0;
    for (const int group : moved) longest = std::max(longest, Start(group) + costed.Seconds(group, to) + ToEnd(group));
    return longest;
  }

  const CostedGraph& costed;
  const Assignment& assignment;
  const Timeline timeline;
  std::set<int> moved = {};
  int to = 0;
};

TEST(BlockPaths, AreTheLongestArcByArc) {
  Random random(1);
  for (int i = 0; i < kPlans; ++i) {
    const std::unique_ptr<GoCase> of = OddCase(random, 9);
    const CostedGraph costed = MakeCostedGraph(*of->model, GreedyFusion(of->graph));
    const GoDecoder decoder(of->problem, costed);
    const DecodedPlan plan = decoder.Decode(RandomDecisions(of->problem, random, true));
    BlockPaths paths(costed, plan.assignment);
    PlainPaths plain(costed, plan.assignment);
    for (int group = 0; group < costed.num_groups; ++group) {
      const double slack = plain.timeline.makespan - plain.Behind(group) - plain.timeline.finish[Index(group)];
      EXPECT_NEAR(paths.Slack(group), std::max(0.0, slack), 1e-9 * plain.timeline.makespan);
    }
    for (plain.to = 0; plain.to < costed.num_devices; ++plain.to) {
      plain.moved.clear();
      std::vector<std::int32_t> groups;
      for (const int group : plan.assignment.sequence) {
        if (random.Below(2) > 0 || !std::isfinite(costed.Seconds(group, plain.to))) continue;
        groups.push_back(group);
        plain.moved.insert(group);
      }
      if (groups.empty()) continue;
      const double expected = plain.Longest();
      EXPECT_NEAR(paths.Longest(groups, plain.to), expected, 1e-9 * expected);
      EXPECT_NEAR(paths.Longest(groups, plain.to), expected, 1e-9 * expected) << "a second time";
    }
  }
}

// What goes on at a moment, by the plainest search for it.
TEST(BlockPaths, LeaveRoomForABlockWhereNothingElseIsLateWhileItRuns) {
  Random random(3);
  int some = 0, none = 0;
  for (int i = 0; i < kPlans; ++i) {
    const std::unique_ptr<GoCase> of = OddCase(random, 12);
    const CostedGraph costed = MakeCostedGraph(*of->model, GreedyFusion(of->graph));
    const DecodedPlan plan = GoDecoder(of->problem, costed).Decode(RandomDecisions(of->problem, random, true));
    const BlockPaths paths(costed, plan.assignment);
    const PlainPaths plain(costed, plan.assignment);
    const double makespan = plain.timeline.makespan;
    constexpr int kBlocks = 4;
    std::vector<std::int32_t> block_of;
    for (int group = 0; group < costed.num_groups; ++group)
      block_of.push_back(static_cast<std::int32_t>(random.Below(kBlocks)));
    struct Going {
      double begin, end, slack;
      std::set<int> blocks;
      bool runs;
    };
    std::vector<Going> all;
    std::set<double> moments;
    for (int group = 0; group < costed.num_groups; ++group) {
      const double finish = plain.timeline.finish[Index(group)];
      all.push_back({plain.timeline.start[Index(group)], finish, paths.Slack(group), {block_of[Index(group)]}, true});
      for (const GroupEdge& edge : costed.Predecessors(group)) {
        const double sent = plain.timeline.finish[Index(edge.group)];
        const double there =
            sent + costed.TransferSeconds(edge.bytes, plain.DeviceOf(edge.group), plain.DeviceOf(group));
        const double whole = costed.Seconds(group, plain.DeviceOf(group)) + plain.Behind(group);
        all.push_back({sent,
                       there,
                       std::max(0.0, makespan - whole - there),
                       {block_of[Index(edge.group)], block_of[Index(group)]},
                       false});
      }
    }
    for (const Going& going : all) moments.insert({going.begin, going.end});
    const double most = 0.1 * makespan;
    const std::vector<double> room = paths.Room(block_of, kBlocks, most);
    for (int block = 0; block < kBlocks; ++block) {
      double expected = 0;
      for (const double moment : moments) {
        const auto goes_on = [moment](const Going& going) { return going.begin <= moment && moment < going.end; };
        const bool late = std::any_of(all.begin(), all.end(), [&](const Going& going) {
          return going.runs && going.blocks.count(block) > 0 && going.slack <= 1e-3 * makespan && goes_on(going);
        });
        double least = most;
        for (const Going& going : all) {
          if (goes_on(going) && going.blocks.count(block) == 0) least = std::min(least, going.slack);
        }
        if (late) expected = std::max(expected, least);
      }
      (expected > 0 ? some : none) += 1;
      EXPECT_NEAR(room[Index(block)], expected, 1e-9 * makespan);
    }
  }
  EXPECT_GT(some, kPlans / 4);
  EXPECT_GT(none, kPlans / 4);
}

TEST(BlockPaths, OfOneGroupThatHelpsIsOnALongestPath) {
  Random random(2);
  int better = 0;
  for (int i = 0; i < kPlans; ++i) {
    const std::unique_ptr<GoCase> of = OddCase(random);
    const CostedGraph costed = MakeCostedGraph(*of->model, GreedyFusion(of->graph));
    const GoDecoder decoder(of->problem, costed);
    const DecodedPlan plan = decoder.Decode(RandomDecisions(of->problem, random, true));
    BlockPaths paths(costed, plan.assignment);
    // Where nothing of a longest path moves the plan stays as long: the estimate then promises nothing.
    for (int group = 0; group < costed.num_groups; ++group) {
      for (int d = 0; d < costed.num_devices; ++d) {
        if (!std::isfinite(costed.Seconds(group, d)) || d == plan.assignment.placement[Index(group)]) continue;
        Assignment moved = plan.assignment;
        moved.placement[Index(group)] = d;
        const double then = Simulator(costed).Makespan(moved);
        if (then >= plan.makespan * (1 - 1e-9)) continue;
        ++better;
        EXPECT_NEAR(paths.Slack(group), 0, 1e-9 * plan.makespan);
      }
    }
  }
  EXPECT_GT(better, 100);
}

}  // namespace
}  // namespace millrace::testing
