// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "millrace/cost/analytic_cost.h"
#include "millrace/graph/index.h"
#include "millrace/plan/verify.h"
#include "millrace/simulate/bounds.h"
#include "millrace/simulate/contention.h"
#include "millrace/simulate/memory_check.h"
#include "millrace/simulate/peak_memory.h"
#include "millrace/simulate/timeline.h"
#include "tests/reference/random_problem.h"

// How ops, tensors, groups and devices are numbered is nobody's business.
namespace millrace {
namespace {

std::vector<int> RandomOrder(Random& random, std::size_t size) {
  std::vector<int> order(size);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = size; i > 1; --i) std::swap(order[i - 1], order[random.Below(i)]);
  return order;
}

struct Problem {
  ComputationGraph graph;
  Machine machine;
  Plan plan;
};

// The same problem with new numbers; op i becomes new_op[i], and so on.
Problem Renumbered(const Problem& old, const std::vector<int>& new_op, const std::vector<int>& new_device,
                   const std::vector<int>& new_group, Random& random) {
  Problem now;
  GraphData data = old.graph.data();
  for (std::size_t i = 0; i < new_op.size(); ++i) data.ops[Index(new_op[i])] = old.graph.ops()[i];
  for (Op& op : data.ops) op.name = "renamed";
  for (Tensor& tensor : data.tensors) {
    if (tensor.producer >= 0) tensor.producer = new_op[Index(tensor.producer)];
    for (OpId& consumer : tensor.consumers) consumer = new_op[Index(consumer)];
  }
  const std::vector<int> tensor_order = RandomOrder(random, data.tensors.size());
  for (std::size_t i = 0; i < tensor_order.size(); ++i)
    std::swap(data.tensors[i], data.tensors[Index(tensor_order[i])]);
  for (GroupTime& group : data.group_seconds) {
    for (OpId& op : group.ops) op = new_op[Index(op)];
  }
  now.graph = ComputationGraph(std::move(data));

  now.machine = old.machine;
  for (std::size_t d = 0; d < new_device.size(); ++d) {
    Device& device = now.machine.devices[Index(new_device[d])];
    device = old.machine.devices[d];
    for (int& unit : device.units) unit = 1000 - 3 * unit;
    std::reverse(device.units.begin(), device.units.end());
  }
  for (Link& link : now.machine.links) {
    link.from = new_device[Index(link.from)];
    link.to = new_device[Index(link.to)];
    if (link.channel) *link.channel += 100;
    if (link.entry_channel) *link.entry_channel += 100;
  }
  std::reverse(now.machine.links.begin(), now.machine.links.end());

  now.plan = old.plan;
  for (std::size_t g = 0; g < new_group.size(); ++g) {
    now.plan.groups[Index(new_group[g])] = old.plan.groups[g];
    for (OpId& op : now.plan.groups[Index(new_group[g])]) op = new_op[Index(op)];
    now.plan.placement[Index(new_group[g])] = new_device[Index(old.plan.placement[g])];
  }
  for (int& group : now.plan.sequence) group = new_group[Index(group)];
  return now;
}

TEST(Renumbering, ChangesNothing) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Random random(seed);
    testing::RandomProblemOptions options;
    options.tidy = true;
    options.memory = true;
    options.gangs = seed % 3 != 0;
    Problem old;
    old.graph = testing::RandomGraph(random, options);
    old.machine = testing::RandomMachine(random, options);
    old.plan = testing::RandomPlan(random, old.graph, old.machine, testing::RandomGroups(random, old.graph));
    const std::vector<int> new_group = RandomOrder(random, old.plan.groups.size());
    const std::vector<int> new_device = RandomOrder(random, old.machine.devices.size());
    const Problem now = Renumbered(old, RandomOrder(random, Index(old.graph.num_ops())), new_device, new_group, random);
    ASSERT_EQ(WhyNotValid(now.graph, now.machine, now.plan), std::nullopt);
    const auto old_model = MakeAnalyticCostModel(old.graph, old.machine);
    const auto now_model = MakeAnalyticCostModel(now.graph, now.machine);
    const CostedGraph old_costed = MakeCostedGraph(*old_model, old.plan.groups);
    const CostedGraph now_costed = MakeCostedGraph(*now_model, now.plan.groups);
    const Assignment old_assignment{old.plan.placement, old.plan.sequence};
    const Assignment now_assignment{now.plan.placement, now.plan.sequence};
    const Timeline before = MakeTimeline(old_costed, old_assignment);
    const Timeline after = MakeTimeline(now_costed, now_assignment);
    ASSERT_EQ(before.makespan, after.makespan);
    for (std::size_t g = 0; g < new_group.size(); ++g) {
      ASSERT_EQ(before.start[g], after.start[Index(new_group[g])]);
      ASSERT_EQ(before.finish[g], after.finish[Index(new_group[g])]);
    }
    const std::vector<double> old_peaks = PeakMemory(old_costed, old_assignment, before);
    const std::vector<double> now_peaks = PeakMemory(now_costed, now_assignment, after);
    for (std::size_t d = 0; d < new_device.size(); ++d) {
      ASSERT_EQ(old_peaks[Index(old_costed.topology.memory_of[d])],
                now_peaks[Index(now_costed.topology.memory_of[Index(new_device[d])])]);
    }
    ASSERT_EQ(FitsInMemory(old_costed, old_assignment), FitsInMemory(now_costed, now_assignment));
    ASSERT_EQ(LowerBound(old_costed), LowerBound(now_costed));
    ASSERT_NEAR(FusionFreeBound(old.graph, old.machine), FusionFreeBound(now.graph, now.machine), 1e-9);
  }
}

}  // namespace
}  // namespace millrace
