// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/go/network.h"
#include "millrace/optimize/baselines.h"
#include "millrace/optimize/planners.h"
#include "millrace/optimize/pool.h"
#include "millrace/optimize/select.h"
#include "millrace/plan/verify.h"
#include "millrace/planning/best_of.h"
#include "millrace/simulate/memory_check.h"
#include "millrace/simulate/timeline.h"
#include "tests/reference/random_problem.h"
#include "tests/reference/sanitized.h"
#include "tests/reference/slow_simulator.h"
#include "tests/reference/temporary_folder.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;

// Weights nobody trained.
class GoPool : public ::testing::Test {
 protected:
  void SetUp() override {
    Random random(3);
    path_ = folder_.Path("go.safetensors");
    weights_ = InitialGoWeights(random);
    WriteWeights(path_, weights_);
  }

  PlannerRegistry Planners(int threads = 1) const {
    return MakePlannerRegistry({.gflownet_weights = "", .go_weights = path_}, threads);
  }

  std::string Refusal() const {
    try {
      Planners().Make("go");
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "";
  }

  testing::TemporaryFolder folder_;
  std::string path_;
  Weights weights_;
};

struct PoolCase {
  explicit PoolCase(std::uint64_t seed, bool memory)
      : random(seed),
        graph(testing::RandomGraph(random, Options(memory))),
        machine(testing::RandomMachine(random, Options(memory))),
        model(MakeAnalyticCostModel(graph, machine)) {}

  static testing::RandomProblemOptions Options(bool memory) {
    testing::RandomProblemOptions options;
    options.memory = memory;
    return options;
  }

  Random random;
  ComputationGraph graph;
  Machine machine;
  std::unique_ptr<CostModel> model;
};

TEST_F(GoPool, ThePlannerOffersTheSameValidPlansAtAnyNumberOfThreads) {
  const std::unique_ptr<const Planner> one = Planners().Make("go");
  const std::unique_ptr<const Planner> three = Planners(3).Make("go");
  for (std::uint64_t seed = 0; seed < testing::Rounds<std::uint64_t>(20); ++seed) {
    const PoolCase problem(seed, true);
    Budget budget;
    budget.samples = 11;
    const auto plans = [&](const Planner& planner) {
      std::vector<Plan> offered;
      Random random(seed);
      planner.Propose(PlanningProblem(*problem.model), budget, random, [&](const ProposedPlan& plan) {
        offered.push_back({plan.costed->groups, plan.assignment.placement, plan.assignment.sequence});
        EXPECT_EQ(WhyNotValid(problem.graph, problem.machine, offered.back()), std::nullopt);
        const testing::SlowTimeline slow = testing::SlowSimulate(problem.graph, problem.machine, offered.back());
        EXPECT_NEAR(Simulator(*plan.costed).Makespan(plan.assignment), slow.makespan, 1e-9 * slow.makespan);
        EXPECT_EQ(FitsInMemory(*plan.costed, plan.assignment), slow.feasible);
      });
      return offered;
    };
    const std::vector<Plan> offered = plans(*one);
    EXPECT_EQ(offered.size(), 11u);
    EXPECT_EQ(offered, plans(*three));
  }
}

TEST_F(GoPool, KeepsTheBestThatFit) {
  const std::unique_ptr<const Planner> planner = Planners().Make("go");
  int overfull = 0;
  for (std::uint64_t seed = 0; seed < testing::Rounds<std::uint64_t>(30); ++seed) {
    const PoolCase problem(seed, true);
    Budget budget;
    budget.samples = 12;
    double least = std::numeric_limits<double>::infinity();
    Random first(1), second(1);
    planner->Propose(PlanningProblem(*problem.model), budget, first, [&least](const ProposedPlan& plan) {
      if (FitsInMemory(*plan.costed, plan.assignment))
        least = std::min(least, Simulator(*plan.costed).Makespan(plan.assignment));
    });
    const BestOf best = RunPlanner(*planner, PlanningProblem(*problem.model), budget, second, 5);
    EXPECT_EQ(best.offered, 12);
    EXPECT_LE(best.kept.size(), 5u);
    ASSERT_EQ(best.kept.empty(), !(least < std::numeric_limits<double>::infinity()));
    if (!best.kept.empty()) {
      EXPECT_EQ(best.kept.front().makespan, least);
    }
    EXPECT_TRUE(
        std::is_sorted(best.kept.begin(), best.kept.end(),
                       [](const RatedAssignment& a, const RatedAssignment& b) { return a.makespan < b.makespan; }));
    overfull += best.overfull > 0 ? 1 : 0;
  }
  EXPECT_GT(overfull, 0);
}

TEST_F(GoPool, PutsItsPlansIntoThePoolWithTheirOwnGroups) {
  const PlannerRegistry planners = Planners();
  std::size_t own_groups = 0;
  for (std::uint64_t seed = 0; seed < testing::Rounds<std::uint64_t>(20); ++seed) {
    const PoolCase problem(seed, seed % 2 == 0);
    PoolOptions options;
    options.methods = {"list", "go"};
    options.samples = 20;
    int told = 0;
    PoolWatch watch;
    watch.progress = [&told](std::string_view method, int done, int total) {
      EXPECT_EQ(done, told++);
      EXPECT_EQ(method.empty(), done == total);
    };
    const Pool pool = MakePool(*problem.model, planners, FusionOptions(*problem.model), options, watch);
    for (const PoolEntry& entry : pool.entries) {
      const Candidate candidate = MakeCandidate(pool, entry);
      EXPECT_EQ(WhyNotValid(problem.graph, problem.machine, candidate.plan), std::nullopt);
      const testing::SlowTimeline slow = testing::SlowSimulate(problem.graph, problem.machine, candidate.plan);
      EXPECT_NEAR(candidate.proxy_seconds, slow.makespan, 1e-9 * slow.makespan);
      EXPECT_TRUE(slow.feasible);
      own_groups += candidate.fusion == "go" ? 1 : 0;
      if (candidate.fusion == "go") {
        EXPECT_EQ(candidate.method, "go");
      }
    }
    for (const Candidate& candidate : SelectDiverse(pool, problem.machine, {}))
      EXPECT_EQ(WhyNotValid(problem.graph, problem.machine, candidate.plan), std::nullopt);
    for (const Baseline& baseline : MakeBaselines(pool, problem.machine)) EXPECT_NE(baseline.candidate.fusion, "go");
    // Made again from the same choices, for another model, say: the ones of single plans are not taken over.
    options.methods = {"list"};
    const Pool again = MakePool(*problem.model, planners, OpenFusions(pool), options, {});
    EXPECT_EQ(again.fusions.size(), FusionOptions(*problem.model).size());
  }
  EXPECT_GT(own_groups, 0u);
}

TEST_F(GoPool, PolishesTheBestOfItsPlansWhereMethodsAreNotNamed) {
  const PlannerRegistry planners = Planners();
  int polished = 0;
  for (std::uint64_t seed = 0; seed < testing::Rounds<std::uint64_t>(12); ++seed) {
    const PoolCase problem(seed, seed % 2 == 0);
    PoolOptions options;
    options.samples = 10;
    options.iterations = 2000;
    options.settings.Set("looks", {0});  // draws alone, which leave something to be polished
    const Pool pool = MakePool(*problem.model, planners, FusionOptions(*problem.model), options, {});
    double best = std::numeric_limits<double>::infinity();
    for (const PoolEntry& entry : pool.entries) {
      if (entry.method == "go") best = std::min(best, entry.proxy_seconds);
      if (entry.method != "go+local-search") continue;
      ++polished;
      const Candidate candidate = MakeCandidate(pool, entry);
      EXPECT_EQ(WhyNotValid(problem.graph, problem.machine, candidate.plan), std::nullopt);
      const testing::SlowTimeline slow = testing::SlowSimulate(problem.graph, problem.machine, candidate.plan);
      EXPECT_NEAR(candidate.proxy_seconds, slow.makespan, 1e-9 * slow.makespan);
      EXPECT_TRUE(slow.feasible);
      EXPECT_LT(candidate.proxy_seconds, best);
    }
  }
  EXPECT_GE(polished, testing::Rounds(4));
}

TEST_F(GoPool, RefusesWeightsThatAreBrokenInOneLineThatNamesTheFile) {
  EXPECT_EQ(Refusal(), "");
  const auto size = std::filesystem::file_size(path_);
  std::filesystem::resize_file(path_, size - 5);
  EXPECT_THAT(Refusal(), HasSubstr(path_));
  EXPECT_EQ(Refusal().find('\n'), std::string::npos);

  WriteWeights(path_, weights_);
  {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    file.seekp(static_cast<std::streamoff>(size - sizeof(float)));
    file.write(reinterpret_cast<const char*>(&nan), sizeof(float));
  }
  EXPECT_THAT(Refusal(), ::testing::AllOf(HasSubstr(path_), HasSubstr("not finite")));

  Weights other = weights_;
  other.tensors.erase("norm.weight");
  WriteWeights(path_, other);
  EXPECT_THAT(Refusal(), ::testing::AllOf(HasSubstr(path_), HasSubstr("norm.weight")));
  std::filesystem::remove(path_);
  EXPECT_THAT(Refusal(), HasSubstr(path_));
}

}  // namespace
}  // namespace millrace
