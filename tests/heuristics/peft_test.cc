// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/heuristics/list_schedulers.h"
#include "millrace/heuristics/optimistic_cost.h"
#include "millrace/heuristics/upward_rank.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

// The definition, without a table: what must follow the group on the device, over every successor and its devices.
double PlainOptimisticCost(const CostedGraph& costed, const MeanTransfer& transfer, int group, int device) {
  double longest = 0;
  for (const GroupEdge& edge : costed.Successors(group)) {
    double least = std::numeric_limits<double>::infinity();
    for (int d = 0; d < costed.num_devices; ++d) {
      const double moved = d == device ? 0 : transfer.Seconds(edge.bytes);
      least =
          std::min(least, PlainOptimisticCost(costed, transfer, edge.group, d) + costed.Seconds(edge.group, d) + moved);
    }
    longest = std::max(longest, least);
  }
  return longest;
}

TEST(OptimisticCosts, AreWhatTheirDefinitionSays) {
  Random random(11);
  for (int round = 0; round < 100; ++round) {
    testing::RandomProblemOptions options;
    options.most_ops = 9;
    options.most_devices = 3;
    const ComputationGraph graph = testing::RandomGraph(random, options);
    const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, testing::RandomMachine(random, options)),
                                               testing::RandomGroups(random, graph));
    const MeanTransfer transfer = MeanTransferOf(costed.topology);
    const std::vector<double> costs = OptimisticCosts(costed, transfer);
    for (int group = 0; group < costed.num_groups; ++group) {
      for (int device = 0; device < costed.num_devices; ++device) {
        const double plain = PlainOptimisticCost(costed, transfer, group, device);
        EXPECT_NEAR(costs[static_cast<std::size_t>(group * costed.num_devices + device)], plain, 1e-12 * plain);
      }
    }
  }
}

// Without colocations and memory limits: of the ready groups the one with the highest mean of the table, where its
// finish and the table's entry add up to the least.
Assignment PlainPeft(const CostedGraph& costed) {
  const MeanTransfer transfer = MeanTransferOf(costed.topology);
  std::vector<double> table, priority;
  for (int group = 0; group < costed.num_groups; ++group) {
    double sum = 0, devices = 0;
    for (int device = 0; device < costed.num_devices; ++device) {
      table.push_back(PlainOptimisticCost(costed, transfer, group, device));
      if (!std::isfinite(costed.Seconds(group, device))) continue;
      sum += table.back();
      devices += 1;
    }
    priority.push_back(sum / devices);
  }
  PartialSchedule schedule(costed, PartialSchedule::Gaps::kFill);
  for (int placed = 0; placed < costed.num_groups; ++placed) {
    int next = -1;
    for (const std::int32_t group : costed.topological_order) {
      const auto before = costed.Predecessors(group);
      const bool ready = !schedule.placed(group) && std::all_of(before.begin(), before.end(), [&](const GroupEdge& e) {
        return schedule.placed(e.group);
      });
      if (ready && (next < 0 || priority[static_cast<std::size_t>(group)] > priority[static_cast<std::size_t>(next)]))
        next = group;
    }
    schedule.Consider(next);
    schedule.Place(schedule.Choose(next, [&](int device) {
      return schedule.EarliestFinish(device) + table[static_cast<std::size_t>(next * costed.num_devices + device)];
    }));
  }
  return schedule.Finish().assignment;
}

TEST(Peft, ChoosesByFinishAndTableTogether) {
  Random random(12);
  for (int round = 0; round < 100; ++round) {
    testing::RandomProblemOptions options;
    options.most_ops = 9;
    options.most_devices = 3;
    options.colocate = false;
    options.tidy = true;
    const ComputationGraph graph = testing::RandomGraph(random, options);
    const CostedGraph costed =
        MakeCostedGraph(*MakeAnalyticCostModel(graph, testing::RandomMachine(random, options)), SingleOpGroups(graph));
    EXPECT_EQ(SchedulePeft(costed).assignment, PlainPeft(costed)) << round;
  }
}

}  // namespace
}  // namespace millrace
