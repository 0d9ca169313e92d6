// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality/search_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "millrace/errors/errors.h"
#include "millrace/experiments/quality/families.h"
#include "millrace/optimize/planners.h"

namespace millrace {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

TEST(SearchInstances, AreEveryCombinationEachOfItsOwnSeed) {
  const SearchGrid grid{.families = {"judge"}, .ops = {60, 200}, .devices = {"4", "2+2"}, .ccr = {1, 5}, .graphs = 3};
  const std::vector<QualityInstance> instances = SearchInstances(grid);
  EXPECT_EQ(instances.size(), 4U * 2 * 2 * 2 * 3);
  std::set<std::uint64_t> seeds;
  for (const QualityInstance& instance : instances) {
    seeds.insert(instance.seed);
    EXPECT_THAT(JudgingFamilies(), Contains(instance.family));
    EXPECT_GE(instance.seed, kQualitySeed + 600'000);
    EXPECT_LT(instance.seed, kQualitySeed + 1'000'000);
  }
  EXPECT_EQ(seeds.size(), instances.size());
}

TEST(SearchInstances, MakeTheTaskGraphsOfTheirFamily) {
  const CostedGraph costed = MakeQualityProblem({60, "2+2", 1, "lu", 0, kQualitySeed});
  EXPECT_EQ(costed.num_groups, 55);
  EXPECT_EQ(costed.num_devices, 4);
  EXPECT_NE(costed.Seconds(0, 0), costed.Seconds(0, 3));
}

TEST(SearchInstances, AreRefusedOutOfRange) {
  const auto refuses = [](const SearchGrid& grid, const std::string& what) {
    EXPECT_THAT([&] { SearchInstances(grid); }, ThrowsMessage<InvalidInput>(HasSubstr(what)));
  };
  for (const char* devices : {"0", "12", "2+3", "2+", "", "a"})
    refuses({.families = {"lu"}, .devices = {devices}}, "devices");
  refuses({.families = {"lu"}, .ops = {0}}, "sizes");
  refuses({.families = {"lu"}, .ccr = {-1}}, "ccr");
  refuses({.families = {"lu"}, .graphs = 0}, "instances");
  refuses({.families = {"trees"}}, "'trees'");
}

TEST(SearchMethods, HaveEqualTimeAndAnnealingFirstOnceForEveryNumberOfSeconds) {
  const PlannerRegistry planners = MakePlannerRegistry();
  const std::vector<QualityMethod> methods = SearchMethods({"brkga", "anneal-plain"}, {2, 0.5}, planners);
  std::vector<std::string> names;
  for (const QualityMethod& method : methods) {
    names.push_back(method.method.name);
    EXPECT_EQ(*method.method.budget.seconds, names.size() <= 2 ? 0.5 : 2);
  }
  EXPECT_THAT(names, ElementsAre("anneal-plain-0.5s", "brkga-0.5s", "anneal-plain-2s", "brkga-2s"));
  const std::vector<std::string> searches = SearchNames(planners);
  EXPECT_THAT(searches, Contains("anneal"));
  EXPECT_THAT(searches, Contains("brkga"));
  EXPECT_THAT(searches, Not(Contains("heft")));
  EXPECT_THAT([&] { SearchMethods({"heft"}, {1}, planners); }, ThrowsMessage<InvalidInput>(HasSubstr("at once")));
  EXPECT_THAT([&] { SearchMethods({"anneal"}, {0}, planners); }, ThrowsMessage<InvalidInput>(HasSubstr("seconds")));
}

TEST(SearchTables, CompareEachMethodWithAnnealingOfTheSameSeconds) {
  QualityResult result;
  result.methods = SearchMethods({"brkga"}, {1, 2}, MakePlannerRegistry());
  result.instances = {{60, "4", 1, "montage", 0, 1}, {60, "4", 1, "randwire", 0, 2}};
  // Plain annealing and brkga for 1 s, then both for 2 s: brkga half as long after 1 s, and after 2 s equal and then
  // longer.
  result.outcomes = {{QualityOutcome{4, 1}, QualityOutcome{2, 1}, QualityOutcome{3, 2}, QualityOutcome{3, 2}},
                     {QualityOutcome{8, 1}, QualityOutcome{4, 1}, QualityOutcome{5, 2}, QualityOutcome{10, 2}}};
  const std::vector<Table> tables = SearchTables(result);
  const std::vector<std::vector<Cell>>& rows = tables[0].rows;
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0][3].numbers.front(), 1);
  EXPECT_NEAR(rows[1][3].numbers.front(), 2, 1e-12);
  EXPECT_EQ(rows[1][4].text, "100");
  EXPECT_NEAR(rows[3][3].numbers.front(), std::sqrt(0.5), 1e-12);
  EXPECT_EQ(rows[3][4].text, "0");
  EXPECT_EQ(rows[3][5].text, "50");
  EXPECT_EQ(rows[3][6].text, "50");
  ASSERT_EQ(tables[1].rows.size(), 4U);
  EXPECT_EQ(tables[1].rows[3][2].text, "randwire");
  EXPECT_EQ(tables[1].rows[3][6].text, "0");
  EXPECT_EQ(tables[1].rows[3][7].text, "100");
  EXPECT_TRUE(tables.back().for_programs);
}

}  // namespace
}  // namespace millrace
