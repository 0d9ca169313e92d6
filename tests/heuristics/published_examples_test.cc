// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "millrace/heuristics/list_schedulers.h"
#include "millrace/heuristics/optimistic_cost.h"
#include "millrace/heuristics/upward_rank.h"
#include "millrace/simulate/timeline.h"
#include "tests/reference/problem_builder.h"

// The worked examples of the papers that list schedulers come from, with what they report.
namespace millrace {
namespace {

using testing::ProblemBuilder;

PlannedAssignment HeftWithGaps(const CostedGraph& costed) { return ScheduleHeft(costed, PartialSchedule::Gaps::kFill); }

double MakespanOf(const CostedGraph& costed, const PlannedAssignment& planned) {
  return MakeTimeline(costed, planned.assignment).makespan;
}

// The worked example of Topcuoglu, Hariri and Wu (2002): figure 2 and table 1, with the
// schedule lengths it reports.
CostedGraph WorkedExample() {
  ProblemBuilder problem(3);
  for (const std::vector<double>& seconds : std::vector<std::vector<double>>{{14, 16, 9},
                                                                             {13, 19, 18},
                                                                             {11, 13, 19},
                                                                             {13, 8, 17},
                                                                             {12, 13, 10},
                                                                             {13, 16, 9},
                                                                             {7, 15, 11},
                                                                             {5, 11, 14},
                                                                             {18, 12, 20},
                                                                             {21, 7, 16}})
    problem.AddOp(seconds);
  for (const auto& [from, to, bytes] : std::vector<std::tuple<int, int, double>>{{1, 2, 18},
                                                                                 {1, 3, 12},
                                                                                 {1, 4, 9},
                                                                                 {1, 5, 11},
                                                                                 {1, 6, 14},
                                                                                 {2, 8, 19},
                                                                                 {2, 9, 16},
                                                                                 {3, 7, 23},
                                                                                 {4, 8, 27},
                                                                                 {4, 9, 23},
                                                                                 {5, 9, 13},
                                                                                 {6, 8, 15},
                                                                                 {7, 10, 17},
                                                                                 {8, 10, 11},
                                                                                 {9, 10, 13}})
    problem.AddEdge(from - 1, to - 1, bytes);
  return problem.Price();
}

TEST(UpwardRanks, AreThoseOfThePublishedExample) {
  const CostedGraph costed = WorkedExample();
  const std::vector<double> ranks = UpwardRanks(costed, MeanSeconds(costed), MeanTransferOf(costed.topology));
  const std::vector<double> published = {108, 77, 80, 80, 69, 63.333, 42.667, 35.667, 44.333, 14.667};
  for (std::size_t i = 0; i < published.size(); ++i) EXPECT_NEAR(ranks[i], published[i], 1e-3) << "op " << i;
}

TEST(Heft, TakesEightyOnThePublishedExample) {
  const CostedGraph costed = WorkedExample();
  EXPECT_DOUBLE_EQ(HeftWithGaps(costed).makespan, 80);
  EXPECT_DOUBLE_EQ(MakespanOf(costed, HeftWithGaps(costed)), 80);
}

TEST(Cpop, TakesEightySixOnThePublishedExample) {
  const CostedGraph costed = WorkedExample();
  EXPECT_DOUBLE_EQ(ScheduleCpop(costed).makespan, 86);
  EXPECT_DOUBLE_EQ(MakespanOf(costed, ScheduleCpop(costed)), 86);
}

TEST(Dls, TakesNinetyOneOnThePublishedExample) {
  const CostedGraph costed = WorkedExample();
  EXPECT_DOUBLE_EQ(ScheduleDls(costed).makespan, 91);
  EXPECT_DOUBLE_EQ(MakespanOf(costed, ScheduleDls(costed)), 91);
}

// The worked example of Arabnejad and Barbosa (2014): a graph of ten tasks on three processors, with the optimistic
// cost table, the priorities and the schedule lengths it reports.
CostedGraph WorkedExampleOfPeft() {
  ProblemBuilder problem(3);
  for (const std::vector<double>& seconds : std::vector<std::vector<double>>{{22, 21, 36},
                                                                             {22, 18, 18},
                                                                             {32, 27, 43},
                                                                             {7, 10, 4},
                                                                             {29, 27, 35},
                                                                             {26, 17, 24},
                                                                             {14, 25, 30},
                                                                             {29, 23, 36},
                                                                             {15, 21, 8},
                                                                             {13, 16, 33}})
    problem.AddOp(seconds);
  for (const auto& [from, to, bytes] : std::vector<std::tuple<int, int, double>>{{1, 2, 17},
                                                                                 {1, 3, 31},
                                                                                 {1, 4, 29},
                                                                                 {1, 5, 13},
                                                                                 {1, 6, 7},
                                                                                 {2, 8, 3},
                                                                                 {2, 9, 30},
                                                                                 {3, 7, 16},
                                                                                 {4, 8, 11},
                                                                                 {4, 9, 7},
                                                                                 {5, 9, 57},
                                                                                 {6, 8, 5},
                                                                                 {7, 10, 9},
                                                                                 {8, 10, 42},
                                                                                 {9, 10, 7}})
    problem.AddEdge(from - 1, to - 1, bytes);
  return problem.Price();
}

TEST(OptimisticCosts, AreThoseOfThePublishedExample) {
  const CostedGraph costed = WorkedExampleOfPeft();
  const std::vector<double> published = {64, 68, 86, 42, 39, 42, 27, 41, 43, 42, 39, 50, 28, 37, 28,
                                         42, 39, 44, 13, 16, 22, 13, 16, 33, 13, 16, 20, 0,  0,  0};
  EXPECT_EQ(OptimisticCosts(costed, MeanTransferOf(costed.topology)), published);
}

TEST(Peft, TakesOneHundredAndTwentyTwoOnThePublishedExampleWhereHeftTakesOneHundredAndThirtyThree) {
  const CostedGraph costed = WorkedExampleOfPeft();
  EXPECT_DOUBLE_EQ(SchedulePeft(costed).makespan, 122);
  EXPECT_DOUBLE_EQ(MakespanOf(costed, SchedulePeft(costed)), 122);
  EXPECT_DOUBLE_EQ(HeftWithGaps(costed).makespan, 133);
}

}  // namespace
}  // namespace millrace
