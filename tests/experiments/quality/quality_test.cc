// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality/quality.h"
#include "millrace/heuristics/heuristics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "millrace/planning/chained_planner.h"
#include "millrace/workloads/random_graph.h"

namespace millrace {
namespace {

using ::testing::ElementsAre;

// A dimension's values and how often each occurs.
template <typename ValueOf>
auto Occurrences(const std::vector<QualityInstance>& instances, ValueOf value_of) {
  std::map<decltype(value_of(instances.front())), int> occurrences;
  for (const QualityInstance& instance : instances) ++occurrences[value_of(instance)];
  return occurrences;
}

TEST(QualityGrid, HasTwoGraphsOfEveryCellEachOfItsOwnSeed) {
  const std::vector<QualityInstance> grid = QualityGrid();
  ASSERT_EQ(grid.size(), 360u);
  std::set<std::uint64_t> seeds;
  for (const QualityInstance& instance : grid) {
    EXPECT_GE(instance.seed, kQualitySeed);
    seeds.insert(instance.seed);
  }
  EXPECT_EQ(seeds.size(), grid.size());
  const auto cells =
      Occurrences(grid, [](const QualityInstance& i) { return std::make_tuple(i.ops, i.devices, i.ccr, i.family); });
  EXPECT_EQ(cells.size(), 180u);
  for (const auto& cell : cells) EXPECT_EQ(cell.second, 2);
}

TEST(QualityGrid, IsMadeOfAnyFamiliesAndItsQuickPartHasEachOfThem) {
  const std::vector<QualityInstance> grid = QualityGridOf({"randwire", "er", "montage"});
  EXPECT_EQ(grid.size(), 216U);
  std::set<std::string> families, quick;
  for (const QualityInstance& instance : grid) families.insert(instance.family);
  for (const QualityInstance& instance : QuickPartOf(grid)) quick.insert(instance.family);
  EXPECT_EQ(families, (std::set<std::string>{"er", "montage", "randwire"}));
  EXPECT_EQ(quick, families);
  EXPECT_EQ(QuickPartOf(grid).size(), 36U);
  EXPECT_GT(MakeQualityGraph(grid.front()).num_ops(), 30);
}

TEST(QuickQualityGrid, IsATenthSpreadOverAllDimensions) {
  const std::vector<QualityInstance> quick = QuickPartOf(QualityGrid());
  ASSERT_EQ(quick.size(), 36u);
  for (const auto& ops : Occurrences(quick, [](const QualityInstance& i) { return i.ops; })) EXPECT_EQ(ops.second, 12);
  for (const auto& devices : Occurrences(quick, [](const QualityInstance& i) { return i.devices; }))
    EXPECT_EQ(devices.second, 9);
  for (const auto& ccr : Occurrences(quick, [](const QualityInstance& i) { return i.ccr; })) EXPECT_EQ(ccr.second, 12);
  const auto families = Occurrences(quick, [](const QualityInstance& i) { return i.family; });
  EXPECT_EQ(families.size(), RandomFamilyNames().size());
  for (const auto& family : families) EXPECT_GE(family.second, 6);
  const auto by_ops = Occurrences(quick, [](const QualityInstance& i) { return std::make_pair(i.ops, i.family); });
  EXPECT_EQ(by_ops.size(), 15u);
  const auto by_ccr = Occurrences(quick, [](const QualityInstance& i) { return std::make_pair(i.ccr, i.family); });
  EXPECT_EQ(by_ccr.size(), 15u);
  const auto by_devices =
      Occurrences(quick, [](const QualityInstance& i) { return std::make_pair(i.devices, i.family); });
  EXPECT_EQ(by_devices.size(), 20u);
}

TEST(QualityGrid, MakesUnlikeDevicesWhoseKindsTakeTurnsAtHalfTheMachine) {
  const CostedGraph equal = MakeQualityProblem({60, "8", 1, "layered", 0, kQualitySeed});
  EXPECT_EQ(equal.num_devices, 8);
  EXPECT_EQ(equal.num_groups, 60);
  const CostedGraph unlike = MakeQualityProblem({60, "2+2", 1, "er", 0, kQualitySeed});
  ASSERT_EQ(unlike.num_devices, 4);
  double slower = 0;
  for (int group = 0; group < unlike.num_groups; ++group) {
    EXPECT_EQ(equal.Seconds(group, 0), equal.Seconds(group, 7));
    EXPECT_EQ(unlike.Seconds(group, 0), unlike.Seconds(group, 1));
    EXPECT_EQ(unlike.Seconds(group, 2), unlike.Seconds(group, 3));
    slower += unlike.Seconds(group, 2) / unlike.Seconds(group, 0) / unlike.num_groups;
  }
  EXPECT_NEAR(slower, 2, 0.3);
}

Method MethodNamed(const std::string& name, std::shared_ptr<const Planner> planner, std::int64_t samples = 1) {
  Method method{name, std::move(planner), {}};
  method.budget.samples = samples;
  return method;
}

QualityResult SmallRun(int threads) {
  const std::vector<QualityInstance> grid = QualityGrid();
  const std::vector<QualityInstance> few = {grid[0], grid[1], grid[12], grid[47]};
  return RunQuality(few,
                    {{MethodNamed("heft", MakeHeftReference())},
                     {MethodNamed("heuristics", MakeAllHeuristics()), {"heft"}},
                     {MethodNamed("draws", MakeHeuristic("randomised-list"), 8), {"heft"}, QualityScope::kFirstOfCell}},
                    threads, 1, [](int, int) {});
}

TEST(Quality, IsTheSameAtAnyNumberOfThreadsAndLeavesOutWhatItIsTold) {
  const QualityResult one = SmallRun(1), three = SmallRun(3);
  for (std::size_t i = 0; i < one.instances.size(); ++i) {
    for (std::size_t m = 0; m < one.methods.size(); ++m) {
      ASSERT_EQ(one.outcomes[i][m].has_value(), three.outcomes[i][m].has_value());
      EXPECT_EQ(one.outcomes[i][m].has_value(), m != 2 || one.instances[i].number == 0);
      if (one.outcomes[i][m]) {
        EXPECT_EQ(one.outcomes[i][m]->makespan, three.outcomes[i][m]->makespan);
      }
    }
    EXPECT_LE(one.outcomes[i][1]->makespan, one.outcomes[i][0]->makespan);
  }
}

TEST(Quality, AdaptsAPlannerToEveryInstanceOfTheQuickGridAlone) {
  const std::vector<QualityInstance> grid = QualityGrid();
  const std::vector<QualityInstance> few = {grid[0], grid[1], grid[12]};
  QualityMethod adapted{MethodNamed("adapted", nullptr), {"heft"}, QualityScope::kQuickGrid};
  std::mutex mutex;
  std::vector<std::uint64_t> seeds;
  adapted.adapt = [&](const QualityInstance& instance) -> std::shared_ptr<const Planner> {
    const std::lock_guard lock(mutex);
    seeds.push_back(instance.seed);
    return MakeHeuristic("list");
  };
  const QualityResult result =
      RunQuality(few, {{MethodNamed("heft", MakeHeftReference())}, adapted}, 2, 1, [](int, int) {});
  std::vector<std::uint64_t> expected;
  for (std::size_t i = 0; i < few.size(); ++i) {
    EXPECT_EQ(result.outcomes[i][1].has_value(), few[i].quick);
    if (few[i].quick) expected.push_back(few[i].seed);
  }
  EXPECT_FALSE(expected.empty());
  EXPECT_LT(expected.size(), few.size());
  EXPECT_THAT(seeds, ::testing::UnorderedElementsAreArray(expected));
}

// Offers one plan, and remembers the seconds it was given.
class Patient final : public Planner {
 public:
  Patient() : Planner({.name = "patient"}) {}

  void Propose(const PlanningProblem& problem, const Budget& budget, Random& random,
               const Offer& offer) const override {
    given_.push_back(budget.seconds);
    MakeHeuristic("list")->Propose(problem, {}, random, offer);
  }

  const std::vector<std::optional<double>>& given() const { return given_; }

 private:
  mutable std::vector<std::optional<double>> given_;
};

TEST(Quality, GivesAMethodTheSecondsThatAnotherTookWhereThatOneRan) {
  const std::vector<QualityInstance> grid = QualityGrid();
  const auto patient = std::make_shared<Patient>();
  QualityMethod slow{MethodNamed("slow", MakeHeuristic("randomised-list"), 8), {}, QualityScope::kFirstOfCell};
  QualityMethod after{MethodNamed("after", patient), {}};
  after.as_long_as = "slow";
  const QualityResult result =
      RunQuality({grid[0], grid[1]}, {{MethodNamed("heft", MakeHeftReference())}, slow, after}, 1, 1, [](int, int) {});
  ASSERT_TRUE(result.outcomes[0][2]);
  EXPECT_FALSE(result.outcomes[1][1]);
  EXPECT_FALSE(result.outcomes[1][2]);
  EXPECT_THAT(patient->given(), ElementsAre(result.outcomes[0][1]->seconds));
  EXPECT_EQ(QualityTables(result).front().rows[2][1].text, "that of slow");
}

// Two instances with made-up makespans: 12, 11, 10 and 20, 20, none.
QualityResult MadeUp() {
  QualityResult result;
  result.methods = {{MethodNamed("heft", nullptr)},
                    {MethodNamed("a", nullptr), {"b"}},
                    {MethodNamed("b", nullptr), {}, QualityScope::kFirstOfCell}};
  result.instances = {{60, "4", 0.2, "er", 0, 1}, {200, "4", 5, "er", 1, 2}};
  result.outcomes = {{QualityOutcome{12, 0.1}, QualityOutcome{11, 1}, QualityOutcome{10, 2}},
                     {QualityOutcome{20, 0.1}, QualityOutcome{20, 3}, std::nullopt}};
  return result;
}

TEST(QualityTables, HoldEveryMethodAgainstTheFirst) {
  const std::vector<Table> tables = QualityTables(MadeUp());
  const Table& overall = tables.front();
  EXPECT_EQ(overall.name, "overall");
  ASSERT_EQ(overall.rows.size(), 3u);
  const std::vector<Cell>& a = overall.rows[1];
  EXPECT_EQ(a[0].text, "a");
  EXPECT_EQ(a[1].text, "-");
  EXPECT_THAT(a[2].numbers, ElementsAre(2));
  EXPECT_NEAR(a[3].numbers[0], std::sqrt(12.0 / 11), 1e-12);
  EXPECT_NEAR(a[4].numbers[0], 0.5, 1e-12);  // the second instance has no gap
  EXPECT_NEAR(a[6].numbers[0], 0.5, 1e-12);
  EXPECT_THAT(a[7].numbers, ElementsAre(1));
  EXPECT_THAT(a[8].numbers, ElementsAre(1));
  EXPECT_THAT(a[9].numbers, ElementsAre(2));
  EXPECT_THAT(overall.rows[2][2].numbers, ElementsAre(1));
}

TEST(QualityTables, CompareRivalsOnWhatBothRan) {
  const std::vector<Table> tables = QualityTables(MadeUp());
  const Table& duels = tables[1];
  EXPECT_EQ(duels.name, "duels");
  ASSERT_EQ(duels.rows.size(), 1u);
  EXPECT_THAT(duels.rows[0][2].numbers, ElementsAre(1));
  EXPECT_THAT(duels.rows[0][3].numbers, ElementsAre(0));
  EXPECT_THAT(duels.rows[0][5].numbers, ElementsAre(1));
}

TEST(QualityTables, BreakDownByEveryDimensionAndKeepEveryMakespanForPrograms) {
  std::map<std::string, Table> tables;
  for (Table& table : QualityTables(MadeUp())) tables[table.name] = table;
  EXPECT_THAT(tables["by ops"].columns, ElementsAre("method", "60", "200"));
  EXPECT_THAT(tables["by ccr"].columns, ElementsAre("method", "0.2", "5"));
  EXPECT_THAT(tables["by devices"].columns, ElementsAre("method", "4"));
  EXPECT_THAT(tables["by family"].columns, ElementsAre("method", "er"));
  EXPECT_EQ(tables["by ops"].rows[1][1].text, "1.091 / 0.50");
  EXPECT_EQ(tables["by ops"].rows[1][2].text, "1.000 / -");
  EXPECT_TRUE(tables["instances"].for_programs);
  EXPECT_EQ(tables["instances"].rows.size(), 2u);
}

}  // namespace
}  // namespace millrace
