// SPDX-License-Identifier: Apache-2.0
#include "millrace/memory/run_in_memory.h"
#include "millrace/heuristics/heuristics.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "millrace/cost/analytic_cost.h"
#include "millrace/heuristics/memory_saving_order.h"
#include "millrace/memory/memory_saving.h"
#include "millrace/plan/verify.h"
#include "millrace/simulate/memory_check.h"
#include "millrace/simulate/peak_memory.h"
#include "millrace/simulate/timeline.h"
#include "millrace/workloads/random_graph.h"
#include "tests/reference/heuristic_names.h"
#include "tests/reference/random_problem.h"
#include "tests/reference/sanitized.h"
#include "tests/reference/slow_simulator.h"

namespace millrace {
namespace {

using testing::HeuristicNames;

// Offers what it is given, in order.
class Scripted : public Planner {
 public:
  explicit Scripted(std::vector<Assignment> offers) : Planner({.name = "scripted"}), offers_(std::move(offers)) {}
  void Propose(const PlanningProblem&, const Budget&, Random&, const Offer& offer) const override {
    for (const Assignment& assignment : offers_) offer(assignment);
  }

 private:
  std::vector<Assignment> offers_;
};

Machine Cores(int count, std::optional<double> memory_bytes) {
  Machine machine;
  for (int c = 0; c < count; ++c) {
    Device device;
    device.name = "core" + std::to_string(c);
    device.kind = "core";
    device.units = {c};
    device.flops_per_second = device.memory_bandwidth = 1e9;
    device.memory_bytes = memory_bytes;
    machine.devices.push_back(device);
  }
  machine.default_link = DefaultLink{0, 1e9};
  return machine;
}

ComputationGraph TwoOps(double first_weight, double second_weight) {
  GraphData data;
  data.ops.resize(2);
  data.ops[0].seconds.everywhere = 3;
  data.ops[0].weight_bytes = first_weight;
  data.ops[1].seconds.everywhere = 4;
  data.ops[1].weight_bytes = second_weight;
  return ComputationGraph(data);
}

TEST(RunPlanner, KeepsTheBestDifferentOffersInOrder) {
  const ComputationGraph graph = TwoOps(0, 0);
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, Cores(2, {})), SingleOpGroups(graph));
  const Assignment together{{0, 0}, {0, 1}}, swapped{{0, 0}, {1, 0}}, apart{{0, 1}, {0, 1}};
  Random random(0);
  const BestOf best = RunPlanner(Scripted({together, apart, apart, swapped, together}), costed, {}, random, 2);
  EXPECT_EQ(best.offered, 5);
  ASSERT_EQ(best.kept.size(), 2u);
  EXPECT_EQ(best.kept[0].assignment, apart);
  EXPECT_DOUBLE_EQ(best.kept[0].makespan, 4);
  EXPECT_EQ(best.kept[1].assignment, together);
  EXPECT_DOUBLE_EQ(best.kept[1].makespan, 7);
}

TEST(RunPlanner, LeavesOutWhatDoesNotFit) {
  const ComputationGraph graph = TwoOps(6, 6);
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, Cores(2, 10.0)), SingleOpGroups(graph));
  const Assignment together{{0, 0}, {0, 1}}, apart{{0, 1}, {0, 1}};
  Random random(0);
  const BestOf best = RunPlanner(Scripted({together, apart}), costed, {}, random, 4);
  ASSERT_EQ(best.kept.size(), 1u);
  EXPECT_EQ(best.kept[0].assignment, apart);
  EXPECT_EQ(best.overfull, 1);
  EXPECT_EQ(best.nearest_peaks, (std::vector<double>{12, 0}));
}

TEST(RunPlannerInMemory, SaysNothingFitsWhereNothingCan) {
  const ComputationGraph graph = TwoOps(6, 11);
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, Cores(2, 10.0)), SingleOpGroups(graph));
  for (const std::string& name : HeuristicNames()) {
    Random random(0);
    EXPECT_EQ(RunPlannerInMemory(*MakeHeuristic(name), costed, {}, random, 1), std::nullopt) << name;
  }
}

TEST(RunPlannerInMemory, ReturnsOnlyWhatFits) {
  Random random(1);
  int found = 0;
  int missed = 0;
  for (int i = 0; i < testing::Rounds(150); ++i) {
    testing::RandomProblemOptions options;
    options.memory = true;
    const ComputationGraph graph = testing::RandomGraph(random, options);
    const Machine machine = testing::RandomMachine(random, options);
    FusionGroups groups = testing::RandomGroups(random, graph);
    CostedGraph costed;
    try {
      costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), groups);
    } catch (const std::exception&) {
      continue;
    }
    for (const std::string& name : HeuristicNames()) {
      const auto best = RunPlannerInMemory(*MakeHeuristic(name), costed, {}, random, 2);
      ++(best ? found : missed);
      if (!best) continue;
      for (const RatedAssignment& rated : best->kept) {
        const Plan plan{groups, rated.assignment.placement, rated.assignment.sequence};
        ASSERT_EQ(WhyNotValid(graph, machine, plan), std::nullopt);
        EXPECT_TRUE(testing::SlowSimulate(graph, machine, plan).feasible) << name << ", problem " << i;
      }
    }
  }
  EXPECT_GT(found, testing::Rounds(500));
  EXPECT_GT(missed, 0);
}

// Weights that fill 80 % of four devices, with tensors to hold beside them.
TEST(RunPlannerInMemory, SpreadsAModelThatFitsNoSingleDevice) {
  RandomGraphOptions options;
  options.ops = 200;
  options.ccr = 0.1;
  GraphData data = MakeRandomGraph("layered", options).data();
  double weights = 0;
  Random random(2);
  for (Op& op : data.ops) weights += op.weight_bytes = random.Uniform(1e8, 1e9);
  const ComputationGraph graph(data);
  const Machine machine = Cores(4, weights / 4 / 0.8);
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
  for (const std::string& name : HeuristicNames()) {
    if (name == "random") continue;
    EXPECT_NE(RunPlannerInMemory(*MakeHeuristic(name), costed, {}, random, 1), std::nullopt) << name;
  }
}

// What lies on each memory at worst under HEFT's plan where memory does not matter.
std::vector<double> HeftPeaks(const CostedGraph& costed, double& makespan) {
  Random random(0);
  const BestOf heft = RunPlanner(*MakeHeuristic("heft"), costed, {}, random, 1);
  makespan = heft.kept.front().makespan;
  const Assignment& assignment = heft.kept.front().assignment;
  return PeakMemory(costed, assignment, MakeTimeline(costed, assignment));
}

CostedGraph WithCapacities(CostedGraph costed, const std::vector<double>& capacities) {
  costed.topology.memory_bytes = capacities;
  costed.limited_memory = true;
  return costed;
}

TEST(RunPlannerInMemory, FindsPlansNearWhatHeftNeedsAndLosesNothingWhereThatFits) {
  Random random(3);
  for (const double share : {0.6, 0.8, 0.9, 1.0, 1.2, 1.5}) {
    int found = 0;
    int tried = 0;
    for (int i = 0; i < testing::Rounds(40); ++i) {
      testing::RandomProblemOptions options;
      options.most_ops = 80;
      const ComputationGraph graph = testing::RandomGraph(random, options);
      const Machine machine = testing::RandomMachine(random, options);
      CostedGraph costed;
      try {
        costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
      } catch (const std::exception&) {
        continue;
      }
      double unrestricted = 0;
      std::vector<double> capacities = HeftPeaks(costed, unrestricted);
      for (double& bytes : capacities) bytes *= share * random.Uniform(0.95, 1.05);
      costed = WithCapacities(costed, capacities);
      ++tried;
      const auto best = RunPlannerInMemory(*MakeHeuristic("heft"), costed, {}, random, 1);
      if (best) {
        ++found;
        EXPECT_TRUE(FitsInMemory(costed, best->kept.front().assignment));
      }
      double again = 0;
      if (Fits(costed, HeftPeaks(MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), costed.groups), again))) {
        ASSERT_TRUE(best) << "problem " << i << " at " << share;
        EXPECT_LE(best->kept.front().makespan, unrestricted);
        EXPECT_FALSE(best->memory_saving);
      }
    }
    std::printf("at %.1f x the peaks of HEFT: %d of %d found\n", share, found, tried);
    if (share >= 1.2) {
      EXPECT_EQ(found, tried);
    }
  }
}

TEST(RunPlannerInMemory, FindsWhatFitsOneDeviceInAMemorySavingOrder) {
  Random random(4);
  for (int i = 0; i < testing::Rounds(60); ++i) {
    const ComputationGraph graph = testing::RandomGraph(random, {.most_ops = 60, .kinds = false});
    CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, Cores(1, {})), SingleOpGroups(graph));
    for (const MemorySavingRule rule : {MemorySavingRule::kLeastIncrease, MemorySavingRule::kDepthFirst}) {
      const Assignment memory_saving{std::vector<int>(static_cast<std::size_t>(costed.num_groups), 0),
                                     MemorySavingOrder(costed, rule)};
      costed = WithCapacities(costed, PeakMemory(costed, memory_saving, MakeTimeline(costed, memory_saving)));
      for (const std::string& name : HeuristicNames()) {
        const auto best = RunPlannerInMemory(*MakeHeuristic(name), costed, {}, random, 1);
        ASSERT_TRUE(best) << name << ", problem " << i;
        EXPECT_TRUE(FitsInMemory(costed, best->kept.front().assignment));
      }
    }
  }
}

// Puts three groups on one, two or three devices, by how much memory it is shown.
class FasterWhenPressed : public Planner {
 public:
  explicit FasterWhenPressed(bool one_answer, double enough = 20)
      : Planner({.name = "faster when pressed", .one_answer = one_answer}), enough_(enough) {}
  void Propose(const PlanningProblem& shown, const Budget&, Random&, const Offer& offer) const override {
    const double shown_bytes = shown.costed().topology.memory_bytes[0];
    const int least = shown_bytes < enough_ ? 1 : 0;
    offer(Assignment{{0, least, shown_bytes > enough_ ? 0 : least + 1}, {0, 1, 2}});
    ++asked;
  }
  mutable int asked = 0;

 private:
  double enough_;  // shown more than this, it spreads nothing
};

TEST(RunPlannerInMemory, GoesOnToLowerCapacitiesWhenASlowPlanFitsAlready) {
  GraphData data;
  data.ops.resize(3);
  for (Op& op : data.ops) {
    op.seconds.everywhere = 2;
    op.weight_bytes = 8;
  }
  const ComputationGraph graph(data);
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, Cores(3, 20.0)), SingleOpGroups(graph));
  Random random(0);
  const FasterWhenPressed scheduler(true);
  const auto best = RunPlannerInMemory(scheduler, costed, {}, random, 2);
  ASSERT_TRUE(best);
  EXPECT_FALSE(best->memory_saving);
  ASSERT_EQ(best->kept.size(), 2u);
  EXPECT_DOUBLE_EQ(best->kept[0].makespan, 2);
  EXPECT_DOUBLE_EQ(best->kept[1].makespan, 4);
  // A source that may be slow is content: with the real capacities, or else with the first lowered ones.
  const FasterWhenPressed search(false), pressed(false, 19);
  EXPECT_DOUBLE_EQ(RunPlannerInMemory(search, costed, {}, random, 2)->kept[0].makespan, 4);
  EXPECT_EQ(search.asked, 2);
  EXPECT_DOUBLE_EQ(RunPlannerInMemory(pressed, costed, {}, random, 2)->kept[0].makespan, 2);
  EXPECT_EQ(pressed.asked, 3);
}

// Asked for plans, it offers one that does not fit, and counts how often.
class NeverFits : public Planner {
 public:
  explicit NeverFits(Assignment offer) : Planner({.name = "never fits"}), offer_(std::move(offer)) {}
  void Propose(const PlanningProblem&, const Budget&, Random&, const Offer& offer) const override {
    ++asked;
    offer(offer_);
  }
  mutable int asked = 0;

 private:
  Assignment offer_;
};

TEST(RunPlannerInMemory, SaysThatAMemorySavingPlanIsNotThePlannersOwn) {
  const ComputationGraph graph = TwoOps(6, 6);
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, Cores(2, 10.0)), SingleOpGroups(graph));
  Random random(0);
  const auto best = RunPlannerInMemory(NeverFits({{0, 0}, {0, 1}}), costed, {}, random, 1);
  ASSERT_TRUE(best);
  EXPECT_TRUE(best->memory_saving);
  EXPECT_DOUBLE_EQ(best->kept.front().makespan, 4);
}

TEST(RunPlannerInMemory, BeginsNoTryOnceItsTimeIsUp) {
  const ComputationGraph graph = TwoOps(6, 11);
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, Cores(2, 10.0)), SingleOpGroups(graph));
  const NeverFits source({{0, 0}, {0, 1}});
  Budget budget;
  budget.seconds = 1e-12;
  Random random(0);
  EXPECT_EQ(RunPlannerInMemory(source, costed, budget, random, 1), std::nullopt);
  EXPECT_EQ(source.asked, 1);
}

// Offers the plan it is given under groups of its choice, and counts how often.
class ChoosesGroups : public Planner {
 public:
  ChoosesGroups(Assignment offer, std::shared_ptr<const CostedGraph> groups)
      : Planner({.name = "chooses groups", .chooses_fusion = true}),
        offer_(std::move(offer)),
        groups_(std::move(groups)) {}
  void Propose(const PlanningProblem& problem, const Budget&, Random&, const Offer& offer) const override {
    EXPECT_TRUE(problem.fusion_open());
    ++asked;
    offer({offer_, groups_});
  }
  mutable int asked = 0;

 private:
  Assignment offer_;
  std::shared_ptr<const CostedGraph> groups_;
};

TEST(RunPlannerInMemory, AsksOnceWhereFusionIsOpenAndReturnsOnlyWhatFits) {
  const ComputationGraph graph = TwoOps(6, 6);
  const auto model = MakeAnalyticCostModel(graph, Cores(2, 10.0));
  const auto single = std::make_shared<const CostedGraph>(MakeCostedGraph(*model, SingleOpGroups(graph)));
  const ChoosesGroups fits({{0, 1}, {0, 1}}, single), does_not_fit({{0, 0}, {0, 1}}, single);
  Random random(0);
  const auto best = RunPlannerInMemory(fits, PlanningProblem(*model), {}, random, 3);
  ASSERT_TRUE(best);
  ASSERT_EQ(best->kept.size(), 1u);
  EXPECT_EQ(best->kept.front().costed, single);
  EXPECT_DOUBLE_EQ(best->kept.front().makespan, Simulator(*single).Makespan({{0, 1}, {0, 1}}));
  EXPECT_FALSE(best->memory_saving);
  EXPECT_EQ(RunPlannerInMemory(does_not_fit, PlanningProblem(*model), {}, random, 3), std::nullopt);
  EXPECT_EQ(fits.asked, 1);
  EXPECT_EQ(does_not_fit.asked, 1);
}

TEST(RunPlannerInMemory, TriesLessOftenWhereATryIsDear) {
  const ComputationGraph graph = TwoOps(6, 11);
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, Cores(2, 10.0)), SingleOpGroups(graph));
  const NeverFits cheap({{0, 0}, {0, 1}}), dear({{0, 0}, {0, 1}});
  Random random(0);
  Budget budget;
  EXPECT_EQ(RunPlannerInMemory(cheap, costed, budget, random, 1), std::nullopt);
  budget.samples = 100'000'000;
  EXPECT_EQ(RunPlannerInMemory(dear, costed, budget, random, 1), std::nullopt);
  EXPECT_EQ(cheap.asked, 18);
  EXPECT_EQ(dear.asked, 4);
}

}  // namespace
}  // namespace millrace
