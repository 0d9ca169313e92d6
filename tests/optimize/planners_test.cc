// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/planners.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/gflownet/policy/message_passing.h"
#include "millrace/go/network.h"
#include "millrace/heuristics/heuristics.h"
#include "millrace/machine/preset.h"
#include "millrace/simulate/timeline.h"
#include "millrace/workloads/random_graph.h"
#include "tests/optimize/some_planners.h"
#include "tests/reference/sanitized.h"
#include "tests/reference/temporary_folder.h"

// What a registry makes, and of what files.
namespace millrace {
namespace {

using ::testing::AllOf;
using testing::CostedProblem;
using ::testing::HasSubstr;
using testing::OffersOf;
using testing::PlannersWithSomeWeights;
using testing::PlansOf;
using testing::ProblemsFor;
using testing::RefusalOf;
using testing::SmallBudget;
using testing::With;

TEST(Planners, OffersOfUntrainedOnesDifferFromTrainedOnesByTheirWeightsAlone) {
  const testing::TemporaryFolder folder;
  const PlannerFiles begin{.gflownet_weights = folder.Path("gflownet.safetensors"),
                           .go_weights = folder.Path("go.safetensors"),
                           .go_moves_weights = folder.Path("go-moves.safetensors")};
  Random gflownet(0), go(0), moves(0);
  WriteWeights(begin.go_moves_weights, InitialGoMoveWeights(moves));
  Weights start = InitialMessagePassingWeights(gflownet);
  LookAhead(start);
  WriteWeights(begin.gflownet_weights, start);
  WriteWeights(begin.go_weights, InitialGoWeights(go));
  const PlannerRegistry from_begin = MakePlannerRegistry(begin);
  int untrained = 0;
  for (const PlannerEntry& entry : PlannersWithSomeWeights().entries()) {
    const std::string& name = entry.traits.name;
    const std::size_t at = name.find("-untrained");
    if (at == std::string::npos) continue;
    ++untrained;
    const std::string trained = std::string(name).erase(at, std::string("-untrained").size());
    EXPECT_FALSE(entry.traits.in_pool) << name;
    EXPECT_FALSE(entry.traits.learned) << name << ": it takes no file";
    EXPECT_TRUE(PlannersWithSomeWeights().Traits(trained).learned) << trained;
    EXPECT_EQ(entry.traits.takes_iterations, PlannersWithSomeWeights().Traits(trained).takes_iterations) << name;
    Random random(21);
    int unlike = 0;
    // On a small problem both may find the same plans: the few rounds of a sanitizer go on until one tells them apart.
    for (int round = 0; round < testing::Rounds(10) || (unlike == 0 && round < 10); ++round) {
      const CostedProblem given(random);
      for (const PlanningProblem& problem : ProblemsFor(entry.traits, given)) {
        const std::vector<Plan> plans = PlansOf(*PlannersWithSomeWeights().Make(name), problem, SmallBudget(8), 5);
        EXPECT_EQ(PlansOf(*from_begin.Make(trained), problem, SmallBudget(8), 5), plans) << name;
        unlike += PlansOf(*PlannersWithSomeWeights().Make(trained), problem, SmallBudget(8), 5) != plans;
      }
    }
    EXPECT_GT(unlike, testing::kSanitized ? 0 : 2) << name;
  }
  EXPECT_EQ(untrained, 5);
}

TEST(Planners, TheSearchFromSamplesIsNowhereBehindHeft) {
  int better = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const ComputationGraph graph = testing::RandomGraph(random);
    const auto model = MakeAnalyticCostModel(graph, testing::RandomMachine(random));
    const CostedGraph costed = MakeCostedGraph(*model, SingleOpGroups(graph));
    Simulator simulator(costed);
    const auto least = [&](const Planner& planner) {
      Budget budget;
      budget.samples = 4;
      budget.iterations = 100;
      double makespan = std::numeric_limits<double>::infinity();
      for (const ProposedPlan& offer : OffersOf(planner, costed, budget, seed))
        makespan = std::min(makespan, simulator.Makespan(offer.assignment));
      return makespan;
    };
    const double heft = least(*MakeHeftReference());
    const double search = least(*PlannersWithSomeWeights().Make("gflownet+search"));
    EXPECT_LE(search, heft);
    better += search < heft;
  }
  EXPECT_GT(better, 5);
}

TEST(Planners, TheSearchFromSamplesImprovesAsManyDrawnPlansAsItHasChains) {
  const ComputationGraph graph = MakeRandomGraph("layered", {.ops = 40, .ccr = 1, .seed = 4});
  const auto model = MakeAnalyticCostModel(graph, *MachinePreset("homogeneous:4,latency=0,bandwidth=1e9"));
  const CostedGraph costed = MakeCostedGraph(*model, SingleOpGroups(graph));
  Simulator simulator(costed);
  Budget budget;
  budget.samples = 100;
  budget.iterations = 12 * 500;
  const auto offers =
      OffersOf(*PlannersWithSomeWeights().Make("gflownet+search", With("chains", {12})), costed, budget, 5);
  // Plans drawn twice are offered once.
  const std::size_t chains = offers.size() / 2;
  ASSERT_EQ(offers.size(), 2 * chains);
  ASSERT_GE(chains, 8u);
  ASSERT_LE(chains, 12u);
  std::vector<double> drawn, improved;
  for (std::size_t i = 0; i < offers.size(); ++i)
    (i < chains ? drawn : improved).push_back(simulator.Makespan(offers[i].assignment));
  std::sort(drawn.begin(), drawn.end());
  std::sort(improved.begin(), improved.end());
  for (std::size_t i = 0; i < chains; ++i) EXPECT_LE(improved[i], drawn[i] * (1 + 1e-9));
  EXPECT_LT(improved[chains / 2], drawn[chains / 2]);
}

TEST(Planners, RefuseAnUnknownNameAndListTheOthers) {
  const std::string refusal = RefusalOf("astrology", {});
  EXPECT_THAT(refusal, HasSubstr("astrology"));
  for (const std::string& name : PlannersWithSomeWeights().Names()) EXPECT_THAT(refusal, HasSubstr(name));
  EXPECT_THAT(PlannersWithSomeWeights().Names(), ::testing::IsSupersetOf({"heft", "anneal", "gflownet", "go"}));
}

TEST(Planners, RefuseWeightsThatAreNone) {
  const testing::TemporaryFolder folder;
  const std::string missing = folder.Path("missing.safetensors");
  const PlannerRegistry planners = MakePlannerRegistry({.gflownet_weights = missing, .go_weights = missing});
  for (const char* name : {"gflownet", "gflownet+search", "gflownet+beam", "gflownet+resampling", "go"}) {
    EXPECT_TRUE(planners.Offers(name)) << name << ": a file was named";
    EXPECT_THROW(planners.Make(name), InvalidInput) << name;
    EXPECT_THROW(planners.Make(name), InvalidInput) << name << ": asked again";
  }
  for (const char* name : {"heft", "gflownet-untrained", "go-untrained"}) EXPECT_NE(planners.Make(name), nullptr);
}

TEST(Planners, RefuseTemperaturesThatWeightsWereNotTrainedAt) {
  const testing::TemporaryFolder folder;
  Random random(3);
  Weights weights = InitialMessagePassingWeights(random);
  weights.metadata["lowest_temperature"] = "0.004";
  weights.metadata["highest_temperature"] = "0.06";
  WriteWeights(folder.Path("trained.safetensors"), weights);
  const PlannerRegistry planners =
      MakePlannerRegistry({.gflownet_weights = folder.Path("trained.safetensors"), .go_weights = ""});
  for (const std::string name : {"gflownet", "gflownet+search", "gflownet+resampling"}) {
    EXPECT_NE(planners.Make(name, With("temperature", {0.004, 0.06})), nullptr);
    EXPECT_NE(planners.Make("gflownet-untrained", With("temperature", {50})), nullptr);
    for (const double wrong : {0.003, 0.07, 50.0}) {
      try {
        planners.Make(name, With("temperature", {0.01, wrong}));
        ADD_FAILURE() << wrong;
      } catch (const InvalidInput& error) {
        EXPECT_THAT(error.what(), AllOf(HasSubstr("0.004 to 0.06"), HasSubstr(std::to_string(wrong).substr(0, 2))));
      }
    }
  }
  weights.metadata["highest_temperature"] = "warm";
  WriteWeights(folder.Path("odd.safetensors"), weights);
  EXPECT_THROW(
      MakePlannerRegistry({.gflownet_weights = folder.Path("odd.safetensors"), .go_weights = ""}).Make("gflownet"),
      InvalidInput);
}

TEST(Planners, APoolIsMadeOfAllThatSuitAnyGraphAndDifferEnough) {
  std::vector<std::string> left_out;
  const std::vector<std::string> pool = PlannersWithSomeWeights().PoolNames();
  for (const std::string& name : PlannersWithSomeWeights().Names()) {
    if (std::find(pool.begin(), pool.end(), name) == pool.end()) left_out.push_back(name);
  }
  EXPECT_THAT(left_out,
              ::testing::ElementsAre("anneal-plain", "exact", "gflownet+beam", "gflownet+resampling",
                                     "gflownet-untrained", "gflownet-untrained+search", "gflownet-untrained+beam",
                                     "gflownet-untrained+resampling", "go-untrained"));
}

}  // namespace
}  // namespace millrace
