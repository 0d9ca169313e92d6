// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/fusion/fusion_options.h"
#include "millrace/optimize/planners.h"
#include "millrace/plan/verify.h"
#include "millrace/planning/deadline.h"
#include "millrace/simulate/bounds.h"
#include "millrace/simulate/timeline.h"
#include "tests/optimize/some_planners.h"
#include "tests/reference/name_of_parameter.h"
#include "tests/reference/random_steering.h"
#include "tests/reference/sanitized.h"
#include "tests/reference/slow_simulator.h"

// What every planner promises, asked of each planner there is.
namespace millrace {
namespace {

using ::testing::AllOf;
using testing::CostedProblem;
using testing::GroupsOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::OffersOf;
using testing::PlannersWithSomeWeights;
using testing::PlanOf;
using testing::PlansOf;
using testing::ProblemsFor;
using testing::RefusalOf;
using testing::SmallBudget;
using testing::SomeWeights;
using testing::SteeredProblem;
using testing::With;

// The numbers of "0.01,0.04"; none where there are other words.
std::vector<double> NumbersIn(const std::string& words) {
  std::vector<double> numbers;
  std::istringstream text(words);
  for (std::string word; std::getline(text, word, ',');) {
    std::istringstream digits(word);
    double number = 0;
    if (!(digits >> number) || !digits.eof()) return {};
    numbers.push_back(number);
  }
  return numbers;
}

class EveryPlanner : public ::testing::TestWithParam<std::string> {
 protected:
  const std::string& name() const { return GetParam(); }
  const PlannerTraits& traits() const { return PlannersWithSomeWeights().Traits(name()); }
  std::unique_ptr<Planner> Make() const { return PlannersWithSomeWeights().Make(name()); }

  // That plans can be executed, take the time that the slow simulator says and are no better than can be.
  void CheckOffers(const CostedProblem& given, const PlanningProblem& problem, const Planner& planner,
                   const Budget& budget) const {
    const std::vector<ProposedPlan> offers = OffersOf(planner, problem, budget, 5);
    // A search offers none of the drawn plans that do not fit in memory.
    ASSERT_TRUE(!offers.empty() || (given.costed.limited_memory && name().ends_with("+search")));
    for (const ProposedPlan& offer : offers) {
      // A planner names groups where it has chosen them and nowhere else.
      ASSERT_EQ(offer.costed != nullptr, problem.fusion_open());
      const Plan plan = PlanOf(problem, offer);
      ASSERT_EQ(WhyNotValid(given.graph, given.machine, plan), std::nullopt);
      const CostedGraph& costed = GroupsOf(problem, offer);
      const double slow = testing::SlowSimulate(given.graph, given.machine, plan).makespan;
      ASSERT_NEAR(MakeTimeline(costed, offer.assignment).makespan, slow, 1e-9 * slow);
      ASSERT_GE(slow, LowerBound(costed) * (1 - 1e-9));
    }
  }
};

TEST_P(EveryPlanner, OffersValidPlansWhichTheSlowSimulatorPricesAlike) {
  Random random(11);
  for (int round = 0; round < testing::Rounds(40); ++round) {
    const CostedProblem given(random, {.memory = round % 4 == 3});
    for (const PlanningProblem& problem : ProblemsFor(traits(), given))
      CheckOffers(given, problem, *Make(), SmallBudget(3));
  }
}

TEST_P(EveryPlanner, OffersOnlyPlansThatKeepToWhatAUserHasSettled) {
  Random random(20);
  int plans = 0;
  for (int round = 0; round < testing::Rounds(60); ++round) {
    const SteeredProblem given(random, {.memory = round % 4 == 3}, round % 3 == 2 ? Proxy::kContended : Proxy::kLinear);
    for (const FusionOption& fusion : FusionOptions(*given.model)) {
      const CostedGraph costed = MakeCostedGraph(*given.model, fusion.groups);
      for (const Plan& plan : PlansOf(*Make(), PlanningProblem(*given.model, costed), SmallBudget(3), 5)) {
        ASSERT_EQ(WhyNotValid(given.graph, given.machine, plan), std::nullopt);
        ASSERT_TRUE(Keeps(given.steering, plan)) << "round " << round << ", fusion " << fusion.name;
        ++plans;
      }
    }
    if (!traits().chooses_fusion) continue;
    for (const Plan& plan : PlansOf(*Make(), PlanningProblem(*given.model), SmallBudget(3), 5)) {
      ASSERT_EQ(WhyNotValid(given.graph, given.machine, plan), std::nullopt);
      ASSERT_TRUE(Keeps(given.steering, plan)) << "round " << round << ", fusion open";
      ++plans;
    }
  }
  EXPECT_GE(plans, testing::Rounds(60));
}

TEST_P(EveryPlanner, OffersTheSamePlansForTheSameSeedAtAnyNumberOfThreads) {
  const PlannerRegistry on_threads = MakePlannerRegistry(SomeWeights(), 3);
  Random random(12);
  for (int round = 0; round < testing::Rounds(20); ++round) {
    const CostedProblem given(random);
    for (const PlanningProblem& problem : ProblemsFor(traits(), given)) {
      const std::vector<Plan> plans = PlansOf(*Make(), problem, SmallBudget(7), 5);
      EXPECT_EQ(PlansOf(*Make(), problem, SmallBudget(7), 5), plans);
      EXPECT_EQ(PlansOf(*on_threads.Make(name()), problem, SmallBudget(7), 5), plans);
    }
  }
}

TEST_P(EveryPlanner, HasTheNameAndTraitsOfItsEntry) {
  const std::unique_ptr<const Planner> planner = Make();
  EXPECT_EQ(planner->name(), name());
  const PlannerTraits& made = planner->traits();
  EXPECT_EQ(made.name, traits().name);
  EXPECT_EQ(made.meaning, traits().meaning);
  EXPECT_EQ(made.one_answer, traits().one_answer);
  EXPECT_EQ(made.takes_samples, traits().takes_samples);
  EXPECT_EQ(made.takes_iterations, traits().takes_iterations);
  EXPECT_EQ(made.chooses_fusion, traits().chooses_fusion);
  EXPECT_EQ(made.learned, traits().learned);
  EXPECT_EQ(made.usual_samples, traits().usual_samples);
  EXPECT_EQ(made.in_pool, traits().in_pool);
  EXPECT_EQ(made.most_pool_visits, traits().most_pool_visits);
  ASSERT_EQ(made.options.size(), traits().options.size());
  for (std::size_t i = 0; i < made.options.size(); ++i) EXPECT_EQ(made.options[i].name, traits().options[i].name);
}

TEST_P(EveryPlanner, SaysWhatItIsInOneLine) {
  EXPECT_NE(traits().meaning, "");
  EXPECT_EQ(traits().meaning.find('\n'), std::string::npos);
  EXPECT_GE(traits().usual_samples, 1);
  EXPECT_FALSE(traits().one_answer && (traits().takes_samples || traits().takes_iterations));
  for (const PlannerOption& option : traits().options) {
    EXPECT_NE(option.meaning, "") << option.name;
    EXPECT_NE(option.usual, "") << option.name;
    EXPECT_LT(option.least, option.most) << option.name;
  }
}

TEST_P(EveryPlanner, OffersAsManyPlansAsItsTraitsSay) {
  constexpr std::size_t kBrkgaPopulation = 100;
  constexpr std::size_t kMostSearched = 4 + 16;  // starts and rounds (search/local_search_planner.h)
  Random random(13);
  for (int round = 0; round < testing::Rounds(5); ++round) {
    const CostedProblem given(random);
    for (const PlanningProblem& problem : ProblemsFor(traits(), given)) {
      const std::vector<Plan> of_one = PlansOf(*Make(), problem, SmallBudget(1), 5);
      for (const std::int64_t samples : {2, 3, 12}) {
        const std::vector<Plan> plans = PlansOf(*Make(), problem, SmallBudget(samples), 5);
        const auto asked = static_cast<std::size_t>(samples);
        if (!traits().takes_samples) {
          EXPECT_EQ(plans, of_one);
        } else if (name() == "brkga") {
          EXPECT_EQ(plans.size(), std::max(kBrkgaPopulation, asked));
        } else if (name().ends_with("+search")) {
          EXPECT_GE(plans.size(), 2u);  // a sample, all of which may be alike, and where the search from it led
          EXPECT_LE(plans.size(), asked + kMostSearched);
        } else {
          EXPECT_EQ(plans.size(), asked);
        }
      }
    }
  }
}

TEST_P(EveryPlanner, OffersExactlyOnePlanWhateverTheBudgetWhereItHasOneAnswer) {
  if (!traits().one_answer) return;
  Budget timed, long_search = SmallBudget(1000);
  timed.seconds = 1e-3;
  long_search.iterations = 1'000'000;
  Random random(14);
  for (int round = 0; round < 20; ++round) {
    const CostedProblem given(random);
    const std::vector<Plan> answer = PlansOf(*Make(), given.costed, {}, 5);
    ASSERT_EQ(answer.size(), 1u);
    for (const Budget& budget : {timed, long_search, SmallBudget(3)})
      EXPECT_EQ(PlansOf(*Make(), given.costed, budget, 6), answer);
  }
}

TEST_P(EveryPlanner, AsksForAllSamplesThatAreWantedOfASmallProblem) {
  Random random(15);
  const CostedProblem given(random);
  for (const PlanningProblem& problem : ProblemsFor(traits(), given)) EXPECT_EQ(Make()->SamplesFor(problem, 50), 50);
}

TEST_P(EveryPlanner, NeedsTheProxyOnlyIfItChoosesFusion) {
  Random random(16);
  const CostedProblem given(random);
  const PlanningProblem without(given.costed);
  if (traits().chooses_fusion) {
    EXPECT_THROW(PlansOf(*Make(), without, SmallBudget(3), 5), InvalidInput);
  } else {
    EXPECT_EQ(PlansOf(*Make(), without, SmallBudget(3), 5),
              PlansOf(*Make(), PlanningProblem(*given.model, given.costed), SmallBudget(3), 5));
  }
}

TEST_P(EveryPlanner, OffersTheEmptyPlanForAnEmptyGraph) {
  Random random(17);
  const ComputationGraph graph{GraphData{}};
  const Machine machine = testing::RandomMachine(random);
  const std::unique_ptr<CostModel> model = MakeAnalyticCostModel(graph, machine);
  const CostedGraph costed = MakeCostedGraph(*model, {});
  std::vector<PlanningProblem> problems = {PlanningProblem(*model, costed)};
  if (traits().chooses_fusion) problems.emplace_back(*model);
  for (const PlanningProblem& problem : problems) {
    const std::vector<Plan> plans = PlansOf(*Make(), problem, SmallBudget(3), 5);
    ASSERT_FALSE(plans.empty());
    for (const Plan& plan : plans) EXPECT_EQ(plan, Plan{});
  }
}

TEST_P(EveryPlanner, StopsSoonAfterItsTimeLimit) {
  constexpr double kSoon = 20;  // where other programs take the processors
  Random random(18);
  const CostedProblem given(random);
  Budget budget;
  budget.samples = std::int64_t{1} << 60;
  budget.seconds = 0.05;
  for (const PlanningProblem& problem : ProblemsFor(traits(), given)) {
    const Deadline clock;
    EXPECT_FALSE(PlansOf(*Make(), problem, budget, 5).empty());
    EXPECT_LT(clock.Elapsed(), kSoon);
  }
}

TEST_P(EveryPlanner, RefusesOptionsItDoesNotDeclareAndValuesOutOfRangeInOneLine) {
  EXPECT_THAT(RefusalOf(name(), With("star-sign", {1})), AllOf(HasSubstr(name()), HasSubstr("star-sign")));
  for (const PlannerOption& option : traits().options) {
    const double infinite = std::numeric_limits<double>::infinity();
    std::vector<std::vector<double>> wrong = {{},
                                              {option.least - 1},
                                              {std::nextafter(option.least, -infinite)},
                                              {std::nextafter(option.most, infinite)},
                                              {infinite},
                                              {-infinite},
                                              {std::numeric_limits<double>::quiet_NaN()},
                                              {option.least, option.most, -infinite}};
    if (!option.several) wrong.push_back({option.least, option.most});
    for (const std::vector<double>& values : wrong) {
      EXPECT_THAT(RefusalOf(name(), With(option.name, values)),
                  AllOf(HasSubstr(name()), HasSubstr("--" + option.name), Not(HasSubstr("\n"))));
    }
    EXPECT_EQ(RefusalOf(name(), With(option.name, {option.least})), "");
    EXPECT_EQ(RefusalOf(name(), With(option.name, {option.most})), "");
    EXPECT_EQ(RefusalOf(name(), With(option.name, {option.least, option.most})).empty(), option.several);
  }
}

TEST_P(EveryPlanner, OffersValidPlansAtBothEndsOfItsOptions) {
  Random random(19);
  const CostedProblem given(random);
  for (const PlannerOption& option : traits().options) {
    const double most = testing::kSanitized ? std::clamp(100.0, option.least, option.most) : option.most;
    for (const double value : {option.least, most}) {
      const std::unique_ptr<const Planner> planner = PlannersWithSomeWeights().Make(name(), With(option.name, {value}));
      for (const PlanningProblem& problem : ProblemsFor(traits(), given))
        CheckOffers(given, problem, *planner, SmallBudget(8));
    }
  }
}

TEST_P(EveryPlanner, DoesAtTheUsualValuesOfItsOptionsWhatItDoesWithoutThem) {
  Random random(20);
  const CostedProblem given(random);
  for (const PlannerOption& option : traits().options) {
    const std::vector<double> usual = NumbersIn(option.usual);
    ASSERT_FALSE(option.usual.empty());
    if (usual.empty()) continue;  // in words: it depends on the problem
    for (const PlanningProblem& problem : ProblemsFor(traits(), given)) {
      EXPECT_EQ(PlansOf(*PlannersWithSomeWeights().Make(name(), With(option.name, usual)), problem, SmallBudget(8), 5),
                PlansOf(*Make(), problem, SmallBudget(8), 5));
    }
  }
}

// What an untrained planner does is what the trained one does, with other weights: sanitizers see one of the two.
std::vector<std::string> AskedPlanners() {
  std::vector<std::string> names = MakePlannerRegistry().Names();
  if (testing::kSanitized) {
    std::erase_if(names, [](const std::string& name) { return name.find("-untrained") != std::string::npos; });
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Planners, EveryPlanner, ::testing::ValuesIn(AskedPlanners()), testing::NameOfParameter);

}  // namespace
}  // namespace millrace
