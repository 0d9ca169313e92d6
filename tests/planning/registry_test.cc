// SPDX-License-Identifier: Apache-2.0
#include "millrace/planning/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/errors/errors.h"

namespace millrace {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Offers one plan, whose sequence are the numbers it was told.
class Told final : public Planner {
 public:
  Told(PlannerTraits traits, const PlannerSettings& settings) : Planner(std::move(traits)) {
    for (const double number : settings.Several("numbers", {7})) numbers_.push_back(static_cast<int>(number));
    numbers_.push_back(static_cast<int>(settings.One("number", 8)));
  }

  void Propose(const PlanningProblem&, const Budget&, Random&, const Offer& offer) const override {
    offer(Assignment{{}, numbers_});
  }

 private:
  std::vector<int> numbers_;
};

PlannerEntry Entry(PlannerTraits traits, std::function<bool()> available = {}) {
  return {
      std::move(traits),
      [](const PlannerTraits& own, const PlannerSettings& settings) { return std::make_unique<Told>(own, settings); },
      std::move(available)};
}

PlannerRegistry SomePlanners() {
  PlannerRegistry registry;
  registry.Add(Entry({.name = "plain", .meaning = "takes nothing"}));
  registry.Add(
      Entry({.name = "told",
             .meaning = "takes numbers",
             .options = {{.name = "numbers", .meaning = "a few", .least = -1, .most = 9, .usual = "7", .several = true},
                         {.name = "number", .meaning = "one", .least = 0.5, .most = 2, .usual = "8"}}}));
  registry.Add(Entry({.name = "unusual", .chooses_fusion = true, .in_pool = false}));
  registry.Add(Entry({.name = "weightless"}, [] { return false; }));
  registry.Add(Entry({.name = "weighty"}, [] { return true; }));
  return registry;
}

std::vector<int> NumbersOf(const std::string& name, const PlannerSettings& settings) {
  std::vector<int> numbers;
  const CostedGraph nothing;
  Random random(0);
  SomePlanners().Make(name, settings)->Propose(nothing, {}, random, [&numbers](ProposedPlan plan) {
    numbers = std::move(plan.assignment.sequence);
  });
  return numbers;
}

// Empty where the planner is made.
std::string RefusalOf(const std::string& name, const PlannerSettings& settings) {
  try {
    SomePlanners().Make(name, settings);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "";
}

PlannerSettings With(const std::string& option, std::vector<double> values) {
  PlannerSettings settings;
  settings.Set(option, std::move(values));
  return settings;
}

TEST(PlannerSettings, TellWhatWasSetLastAndElseWhatHoldsOtherwise) {
  PlannerSettings settings;
  EXPECT_THAT(settings.values(), IsEmpty());
  EXPECT_EQ(settings.One("number", 3), 3);
  EXPECT_THAT(settings.Several("numbers", {1, 2}), ElementsAre(1, 2));
  EXPECT_THAT(settings.Several("numbers", {}), IsEmpty());
  settings.Set("number", {4});
  settings.Set("numbers", {5, 6});
  EXPECT_EQ(settings.One("number", 3), 4);
  EXPECT_EQ(settings.One("another", 3), 3);
  EXPECT_THAT(settings.Several("numbers", {1, 2}), ElementsAre(5, 6));
  settings.Set("numbers", {9});
  EXPECT_THAT(settings.Several("numbers", {1, 2}), ElementsAre(9));
  EXPECT_EQ(settings.values().size(), 2u);
}

TEST(PlannerRegistry, ListsPlannersInTheOrderTheyWereAdded) {
  const PlannerRegistry registry = SomePlanners();
  EXPECT_THAT(registry.Names(), ElementsAre("plain", "told", "unusual", "weightless", "weighty"));
  ASSERT_EQ(registry.entries().size(), 5u);
  EXPECT_EQ(registry.entries()[1].traits.meaning, "takes numbers");
  EXPECT_THAT(PlannerRegistry().Names(), IsEmpty());
}

TEST(PlannerRegistry, MakesAPoolOfThoseThatAreForItAndCanBeMade) {
  EXPECT_THAT(SomePlanners().PoolNames(), ElementsAre("plain", "told", "weighty"));
}

TEST(PlannerRegistry, OffersWhatCanBeMade) {
  const PlannerRegistry registry = SomePlanners();
  for (const char* name : {"plain", "unusual", "weighty"}) EXPECT_TRUE(registry.Offers(name)) << name;
  for (const char* name : {"weightless", "astrology", ""}) EXPECT_FALSE(registry.Offers(name)) << name;
}

TEST(PlannerRegistry, AsksWhetherAPlannerCanBeMadeEachTime) {
  bool there = false;
  PlannerRegistry registry;
  registry.Add(Entry({.name = "late"}, [&there] { return there; }));
  EXPECT_FALSE(registry.Offers("late"));
  EXPECT_THAT(registry.PoolNames(), IsEmpty());
  there = true;
  EXPECT_TRUE(registry.Offers("late"));
  EXPECT_THAT(registry.PoolNames(), ElementsAre("late"));
}

TEST(PlannerRegistry, KnowsWhichPlannersChooseFusion) {
  const PlannerRegistry registry = SomePlanners();
  EXPECT_TRUE(registry.ChoosesFusion("unusual"));
  EXPECT_FALSE(registry.ChoosesFusion("plain"));
  EXPECT_FALSE(registry.ChoosesFusion("astrology"));
}

TEST(PlannerRegistry, MakesPlannersWithTheTraitsOfTheirEntryAndTheSettings) {
  EXPECT_EQ(SomePlanners().Make("told")->traits().meaning, "takes numbers");
  EXPECT_EQ(SomePlanners().Traits("told").meaning, "takes numbers");
  PlannerSettings settings = With("numbers", {-1, 9});
  EXPECT_THAT(NumbersOf("told", {}), ElementsAre(7, 8));
  EXPECT_THAT(NumbersOf("told", settings), ElementsAre(-1, 9, 8));
  settings.Set("number", {2});
  EXPECT_THAT(NumbersOf("told", settings), ElementsAre(-1, 9, 2));
  EXPECT_THAT(NumbersOf("plain", {}), ElementsAre(7, 8));
}

TEST(PlannerRegistry, RefusesAnUnknownNameAndListsAllNames) {
  const auto lists_all =
      AllOf(HasSubstr("'astrology'"), HasSubstr("plain, told, unusual, weightless, weighty"), Not(HasSubstr("\n")));
  EXPECT_THAT(RefusalOf("astrology", {}), lists_all);
  try {
    SomePlanners().Traits("astrology");
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_THAT(error.what(), lists_all);
  }
}

TEST(PlannerRegistry, RefusesAnOptionThatThePlannerDoesNotDeclare) {
  EXPECT_EQ(RefusalOf("plain", With("numbers", {1})), "plain takes no --numbers");
  EXPECT_EQ(RefusalOf("told", With("star-sign", {1})), "told takes no --star-sign");
}

TEST(PlannerRegistry, RefusesValuesOutOfRangeAndNamesTheRange) {
  const double infinite = std::numeric_limits<double>::infinity();
  for (const double value : {-1.5, 9.5, infinite, -infinite, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THAT(RefusalOf("told", With("numbers", {1, value})),
                AllOf(HasSubstr("--numbers of told is a number from -1 to 9"), Not(HasSubstr("\n"))))
        << value;
  }
  EXPECT_THAT(RefusalOf("told", With("number", {3})), HasSubstr("--number of told is a number from 0.5 to 2, not 3"));
}

TEST(PlannerRegistry, RefusesMoreOrFewerValuesThanAnOptionTakes) {
  EXPECT_EQ(RefusalOf("told", With("numbers", {})), "--numbers of told takes one or more numbers");
  EXPECT_EQ(RefusalOf("told", With("number", {})), "--number of told takes one number");
  EXPECT_EQ(RefusalOf("told", With("number", {1, 1})), "--number of told takes one number");
}

}  // namespace
}  // namespace millrace
