// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "millrace/cost/analytic_cost.h"
#include "millrace/simulate/timeline.h"
#include "tests/reference/random_problem.h"

namespace {
std::atomic<long> allocations{0};
}  // namespace

// Not inlined: the compiler would take malloc and delete, or new and free, for a mismatched pair.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace millrace {
namespace {

TEST(Simulator, AllocatesNothingOnceItStands) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const ComputationGraph graph = testing::RandomGraph(random);
    const Machine machine = testing::RandomMachine(random);
    const Plan plan = testing::RandomPlan(random, graph, machine, testing::RandomGroups(random, graph));
    const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), plan.groups);
    const Assignment assignment{plan.placement, plan.sequence};
    Simulator simulator(costed);
    Timeline timeline;
    simulator.Run(assignment, timeline);
    const long before = allocations;
    const double makespan = simulator.Makespan(assignment);
    simulator.Run(assignment, timeline);
    EXPECT_EQ(allocations, before);
    EXPECT_EQ(timeline.makespan, makespan);
  }
  EXPECT_GT(allocations, 0);
}

TEST(Simulator, OfNothingIsOverAtOnce) {
  const ComputationGraph graph(GraphData{});
  Machine machine;
  machine.devices = {{"0", "cpu", {0}, 1, 1, std::nullopt, 0}};
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), {});
  EXPECT_EQ(MakeTimeline(costed, {}).makespan, 0.0);
}

}  // namespace
}  // namespace millrace
