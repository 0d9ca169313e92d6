// SPDX-License-Identifier: Apache-2.0
#include "millrace/cost/cost_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "millrace/cost/analytic_cost.h"
#include "millrace/cost/perturbed_cost.h"
#include "tests/reference/random_problem.h"
#include "tests/reference/slow_simulator.h"

namespace millrace {
namespace {

constexpr double kCannotRun = std::numeric_limits<double>::infinity();

struct Problem {
  explicit Problem(std::uint64_t seed) : random(seed) {
    graph = testing::RandomGraph(random);
    machine = testing::RandomMachine(random);
    groups = testing::RandomGroups(random, graph);
  }
  int devices() const { return static_cast<int>(machine.devices.size()); }

  Random random;
  ComputationGraph graph;
  Machine machine;
  FusionGroups groups;
};

// What every cost model promises.
void HoldToTheInterface(const Problem& p, const CostModel& model) {
  ASSERT_EQ(&model.graph(), &p.graph);
  const Topology& topology = model.topology();
  ASSERT_EQ(topology.num_devices, p.devices());
  ASSERT_EQ(topology.memory_of, MakeTopology(p.machine).memory_of);
  for (std::size_t pair = 0; pair < topology.free.size(); ++pair) {
    ASSERT_GE(topology.latency[pair], 0);
    ASSERT_GE(topology.seconds_per_byte[pair], 0);
    if (topology.free[pair] != 0) {
      ASSERT_EQ(topology.latency[pair], 0);
      ASSERT_EQ(topology.seconds_per_byte[pair], 0);
    }
  }
  for (const std::vector<OpId>& group : p.groups) {
    for (int device = 0; device < p.devices(); ++device) {
      const double seconds = model.GroupSeconds(group, device);
      ASSERT_GE(seconds, 0);
      ASSERT_EQ(seconds, model.GroupSeconds(group, device));
      const bool cannot = testing::SlowGroupSeconds(p.graph, p.machine, group, device) == kCannotRun;
      ASSERT_EQ(seconds == kCannotRun, cannot);
    }
  }
}

TEST(CostModels, KeepTheirInterfaceOnRandomProblems) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const Problem p(seed);
    const auto unit = MakeUnitCostModel(p.graph, p.machine);
    const auto analytic = MakeAnalyticCostModel(p.graph, p.machine);
    HoldToTheInterface(p, *unit);
    HoldToTheInterface(p, *analytic);
    const Perturbation::LinearTransfer transfer{0.5, 2.0};
    HoldToTheInterface(p, *MakePerturbedCostModel(*analytic, p.machine, {.noise_sigma = 0.3, .seed = seed}));
    HoldToTheInterface(p, *MakePerturbedCostModel(*analytic, p.machine, {.transfer = &transfer}));
    HoldToTheInterface(p, *MakePerturbedCostModel(*unit, p.machine, {.noise_sigma = 1, .transfer = &transfer}));
    if (HasFatalFailure()) return;
  }
}

TEST(AnalyticCostModel, EqualsTheRulesWrittenPlainly) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const Problem p(seed);
    const auto model = MakeAnalyticCostModel(p.graph, p.machine);
    for (const std::vector<OpId>& group : p.groups) {
      for (int device = 0; device < p.devices(); ++device) {
        const double slow = testing::SlowGroupSeconds(p.graph, p.machine, group, device);
        if (slow == kCannotRun)
          ASSERT_EQ(model->GroupSeconds(group, device), kCannotRun);
        else
          ASSERT_NEAR(model->GroupSeconds(group, device), slow, 1e-12 * (1 + slow)) << "seed " << seed;
      }
    }
  }
}

TEST(UnitCostModel, SaysASecond) {
  const Problem p(4);
  const auto model = MakeUnitCostModel(p.graph, p.machine);
  for (const std::vector<OpId>& group : p.groups) EXPECT_EQ(model->GroupSeconds(group, 0), 1.0);
}

TEST(PerturbedCostModel, IsTheBaseWhereNothingIsPerturbed) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Problem p(seed);
    const auto base = MakeAnalyticCostModel(p.graph, p.machine);
    const auto copy = MakePerturbedCostModel(*base, p.machine, {});
    EXPECT_EQ(copy->topology().latency, base->topology().latency);
    EXPECT_EQ(copy->topology().seconds_per_byte, base->topology().seconds_per_byte);
    EXPECT_EQ(copy->topology().free, base->topology().free);
    for (const std::vector<OpId>& group : p.groups) {
      for (int device = 0; device < p.devices(); ++device)
        EXPECT_EQ(copy->GroupSeconds(group, device), base->GroupSeconds(group, device));
    }
  }
}

// Many ops of one second on two devices of one kind and one of another.
class Noise : public ::testing::Test {
 protected:
  Noise() {
    GraphData data;
    data.ops.resize(4000);
    for (Op& op : data.ops) op.seconds.everywhere = 2;
    graph_ = ComputationGraph(std::move(data));
    machine_.devices = {{"0", "cpu", {0}, 1, 1, std::nullopt, 0},
                        {"1", "gpu", {1}, 1, 1, std::nullopt, 0},
                        {"2", "cpu", {2}, 1, 1, std::nullopt, 0}};
    base_ = MakeAnalyticCostModel(graph_, machine_);
  }
  double Factor(const CostModel& model, OpId op, int device) const {
    return model.GroupSeconds(std::span(&op, 1), device) / 2;
  }

  ComputationGraph graph_;
  Machine machine_;
  std::unique_ptr<CostModel> base_;
};

TEST_F(Noise, IsLognormalByOpAndKindAndSeed) {
  const auto model = MakePerturbedCostModel(*base_, machine_, {.noise_sigma = 0.3, .seed = 1});
  const auto other_seed = MakePerturbedCostModel(*base_, machine_, {.noise_sigma = 0.3, .seed = 2});
  double sum = 0, squares = 0, products = 0, seed_products = 0;
  for (OpId op = 0; op < graph_.num_ops(); ++op) {
    const double here = std::log(Factor(*model, op, 0));
    ASSERT_EQ(Factor(*model, op, 2), Factor(*model, op, 0));  // of one kind
    sum += here;
    squares += here * here;
    products += here * std::log(Factor(*model, op, 1));
    seed_products += here * std::log(Factor(*other_seed, op, 0));
  }
  const double ops = graph_.num_ops();
  EXPECT_NEAR(sum / ops, 0, 0.025);
  EXPECT_NEAR(std::sqrt(squares / ops), 0.3, 0.02);
  EXPECT_NEAR(products / squares, 0, 0.08);  // another kind's is another draw
  EXPECT_NEAR(seed_products / squares, 0, 0.08);
}

TEST_F(Noise, StaysWithTheKindWhenDevicesChangePlaces) {
  Machine swapped = machine_;
  std::swap(swapped.devices[0], swapped.devices[1]);
  const auto base = MakeAnalyticCostModel(graph_, swapped);
  const auto before = MakePerturbedCostModel(*base_, machine_, {.noise_sigma = 0.3, .seed = 1});
  const auto after = MakePerturbedCostModel(*base, swapped, {.noise_sigma = 0.3, .seed = 1});
  for (OpId op = 0; op < 50; ++op) {
    EXPECT_EQ(Factor(*before, op, 0), Factor(*after, op, 1));
    EXPECT_EQ(Factor(*before, op, 1), Factor(*after, op, 0));
  }
}

TEST_F(Noise, OfAGroupIsTheMeanOfItsOpsWeightedByTheirTimes) {
  GraphData data;
  data.ops.resize(2);
  data.ops[0].seconds.everywhere = 3;
  data.ops[1].seconds.everywhere = 1;
  data.ops[0].type = data.ops[1].type = "Relu";
  data.tensors = {{"", 0, {1}, 1, false}};
  data.group_seconds = {{{0, 1}, {2.0, {}}}};
  const ComputationGraph graph(std::move(data));
  const auto base = MakeAnalyticCostModel(graph, machine_);
  const auto model = MakePerturbedCostModel(*base, machine_, {.noise_sigma = 0.3, .seed = 1});
  const OpId first = 0, second = 1;
  const std::vector<OpId> both{0, 1};
  const double mean =
      (model->GroupSeconds(std::span(&first, 1), 0) + model->GroupSeconds(std::span(&second, 1), 0)) / 4;
  EXPECT_NEAR(model->GroupSeconds(both, 0), 2 * mean, 1e-12);
}

TEST(PerturbedTransfers, ReplaceAllButTheFreeOnesOfOneDeviceOrUnit) {
  Machine machine;
  machine.devices = {{"0", "cpu", {0}, 1, 1, std::nullopt, 0},
                     {"1", "cpu", {1}, 1, 1, std::nullopt, 0},
                     {"0+1", "cpu_x2", {0, 1}, 1, 1, std::nullopt, 0},
                     {"2", "cpu", {2}, 1, 1, std::nullopt, 0}};
  machine.links = {{0, 3, 9, 9, std::nullopt}};
  const ComputationGraph graph(GraphData{"", {Op{}}, {}, {}});
  const auto base = MakeAnalyticCostModel(graph, machine);
  const Perturbation::LinearTransfer transfer{0.5, 2.0};
  const Topology topology = MakePerturbedCostModel(*base, machine, {.transfer = &transfer})->topology();
  for (int from = 0; from < 4; ++from) {
    for (int to = 0; to < 4; ++to) {
      const bool shared = from == to || (from == 2 && to < 2) || (to == 2 && from < 2);
      const std::size_t pair = topology.Pair(from, to);
      EXPECT_EQ(topology.free[pair] != 0, shared);
      EXPECT_EQ(topology.latency[pair], shared ? 0.0 : 0.5);
      EXPECT_EQ(topology.seconds_per_byte[pair], shared ? 0.0 : 2.0);
    }
  }
}

}  // namespace
}  // namespace millrace
