// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality/portfolio.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/experiments/quality/families.h"
#include "millrace/optimize/planners.h"
#include "millrace/simulate/bounds.h"
#include "tests/reference/sanitized.h"

namespace millrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::ThrowsMessage;

TEST(PortfolioProblems, AreTaskGraphsOfTheirUseAndTrainingGraphsUnderContention) {
  std::set<std::string> names;
  for (const PortfolioUse use : {PortfolioUse::kTune, PortfolioUse::kJudge}) {
    const std::vector<PortfolioProblem> problems = PortfolioProblems(use, false);
    EXPECT_EQ(problems.size(), 62u);
    std::size_t contended = 0;
    for (const PortfolioProblem& problem : problems) {
      EXPECT_TRUE(names.insert(problem.name).second) << problem.name;
      if (problem.proxy == Proxy::kContended) {
        ++contended;
        EXPECT_EQ(problem.fusion, GivenFusion::kMerged);
      } else {
        EXPECT_EQ(UseOfFamily(problem.family), use == PortfolioUse::kTune ? "tunes" : "judges") << problem.name;
      }
    }
    EXPECT_EQ(contended, 14u);
    EXPECT_LT(PortfolioProblems(use, true).size(), problems.size() / 2);
    EXPECT_EQ(PortfolioProblems(use, false, PortfolioKinds::kTaskGraphs).back().name, problems[47].name);
    EXPECT_EQ(PortfolioProblems(use, false, PortfolioKinds::kTrainingGraphs).front().name, problems[48].name);
  }
}

TEST(Portfolio, PlansEveryProblemWithEverySeedByEveryMethodAndOnceMoreByOptimize) {
  std::vector<PortfolioProblem> problems = PortfolioProblems(PortfolioUse::kJudge, true);
  problems.erase(problems.begin() + 2, problems.end() - 1);
  const PortfolioOptions options{
      .methods = {"sequential", "heft", "anneal", "go"}, .seconds = 0.1, .at_once = 2, .seeds = 2};
  int told = 0;
  const PortfolioResult result = RunPortfolio(problems, MakePlannerRegistry(), options, [&told](int, int) { ++told; });
  EXPECT_EQ(told, 3);
  ASSERT_EQ(result.alone.size(), problems.size());
  for (std::size_t i = 0; i < problems.size(); ++i) {
    ASSERT_EQ(result.alone[i].size(), options.methods.size());
    const double bound = FusionFreeBound(problems[i].graph, problems[i].machine);
    for (const std::vector<PortfolioOutcome>& seeds : result.alone[i]) {
      ASSERT_EQ(seeds.size(), 2u);
      for (const PortfolioOutcome& outcome : seeds) EXPECT_GE(outcome.makespan, bound * (1 - 1e-9));
    }
    ASSERT_EQ(result.whole[i].size(), 2u);
    for (const PortfolioOutcome& outcome : result.whole[i]) EXPECT_GE(outcome.makespan, bound * (1 - 1e-9));
    EXPECT_GE(result.reseed[i].makespan, bound * (1 - 1e-9));
  }
}

TEST(Portfolio, NeedsAMethodThatTheRegistryHas) {
  const auto run = [](std::vector<std::string> methods) {
    PortfolioOptions options;
    options.methods = std::move(methods);
    RunPortfolio({}, MakePlannerRegistry(), options, {});
  };
  EXPECT_THAT([&] { run({}); }, ThrowsMessage<InvalidInput>(HasSubstr("methods")));
  EXPECT_THAT([&] { run({"no-such-planner"}); }, ThrowsMessage<InvalidInput>(HasSubstr("no-such-planner")));
}

TEST(PortfolioTables, HoldEveryMethodAndTheBestOfThemAgainstOptimize) {
  PortfolioResult result;
  result.options.methods = {"heft", "anneal"};
  result.problems = {"one", "two"};
  result.whole = {{{10, 5}}, {{10, 4}}};
  result.reseed = {{10, 5}, {9.7, 5}};
  result.alone = {{{{20, 0.1}}, {{12, 5}}}, {{{9.5, 0.1}}, {{9.9, 5}}}};
  const std::vector<Table> tables = PortfolioTables(result);
  ASSERT_EQ(tables.size(), 3u);
  std::vector<std::vector<std::string>> words;
  for (const std::vector<Cell>& row : tables[0].rows) {
    words.emplace_back();
    for (const Cell& cell : row) words.back().push_back(cell.text);
    words.back()[1] = words.back()[1].substr(0, 6);  // without its interval
  }
  EXPECT_THAT(words,
              ElementsAre(ElementsAre("heft", "1.3784", "1", "0", "1", "5.26", "0.10"),
                          ElementsAre("anneal", "1.0900", "1", "0", "1", "1.01", "5.00"),
                          ElementsAre("the best of these, in hindsight", "1.0677", "1", "0", "1", "5.26", "2.55"),
                          ElementsAre("optimize with another seed", "0.9849", "0", "1", "1", "3.09", "5.00")));
  ASSERT_EQ(tables[1].rows.size(), 1u);
  EXPECT_EQ(tables[1].rows[0][0].text, "two");
  EXPECT_EQ(tables[1].rows[0][1].text, "heft");
  EXPECT_EQ(tables[1].rows[0][2].text, "5.26");
  EXPECT_EQ(tables[1].rows[0][3].text, "2.11");
  EXPECT_EQ(tables[2].rows.size(), 2u);
  EXPECT_TRUE(tables[2].for_programs);
}

TEST(PortfolioTables, TellMeritFromChanceWithFiveSeeds) {
  PortfolioResult result;
  result.options = {.methods = {"better", "mixed", "good"}, .seeds = 5};
  result.problems = {"one"};
  result.whole = {{{10, 1}, {10.1, 1}, {10.2, 1}, {10.3, 1}, {10.4, 1}}};
  result.alone = {{{{9.5, 1}, {9.6, 1}, {9.7, 1}, {9.8, 1}, {9.9, 1}},
                   {{9.5, 1}, {9.6, 1}, {10.4, 1}, {9.8, 1}, {9.9, 1}},
                   {{9.6, 1}, {9.7, 1}, {9.8, 1}, {9.9, 1}, {9.95, 1}}}};
  const std::vector<Table> tables = PortfolioTables(result);
  ASSERT_EQ(tables[0].rows.size(), 4u);  // no row of another seed
  const auto beyond = [&tables](std::size_t row) {
    return std::pair(tables[0].rows[row][5].text, tables[0].rows[row][6].text);
  };
  EXPECT_EQ(tables[0].columns[6], "slower beyond chance");
  EXPECT_THAT(beyond(0), Pair("0", "1"));
  EXPECT_THAT(beyond(1), Pair("0", "0"));
  ASSERT_EQ(tables[1].rows.size(), 2u);
  EXPECT_EQ(tables[1].rows[0][1].text, "better");
  EXPECT_EQ(tables[1].rows[0][3].text, "yes");
  EXPECT_EQ(tables[1].rows[1][1].text, "good");
  EXPECT_EQ(tables[2].rows.size(), 5u);
}

}  // namespace
}  // namespace millrace
