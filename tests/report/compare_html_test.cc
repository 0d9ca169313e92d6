// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/compare_html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "millrace/cost/analytic_cost.h"
#include "millrace/report/readable.h"
#include "millrace/simulate/timeline.h"
#include "tests/report/browser.h"
#include "tests/report/sample_result.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;

std::string PageOf(const OptimizeResult& result) {
  const Candidate& plan = result.baselines[0].candidate;
  const CostedGraph costed =
      MakeCostedGraph(*MakeAnalyticCostModel(result.graph, result.machine), result.best.plan.groups);
  const PlanDifference difference = DifferenceOf(result.graph, plan.plan, result.best.plan, costed);
  EXPECT_GT(difference.moved.size(), 0U);
  return CompareHtml({result.graph, result.machine, plan, result.best, Proxy::kLinear, difference});
}

TEST(CompareHtml, ShowsBothPlansAndEveryMove) {
  const OptimizeResult result = testing::SmallResult("first <b>");
  const std::string page = PageOf(result);
  for (const char* section : {"summary", "timelines", "moves", "devices", "words"})
    EXPECT_THAT(page, HasSubstr("<section id=\"" + std::string(section) + "\""));
  EXPECT_EQ(testing::Count(page, "class=\"gantt-plan\""), 2U);
  EXPECT_THAT(page, ::testing::Not(HasSubstr("first <b>")));
  EXPECT_THAT(page, HasSubstr("put back, the second plan takes"));
}

// The percentage is of the slower plan's time.
TEST(CompareHtml, SaysWhichPlanIsFasterAndByHowMuch) {
  const OptimizeResult result = testing::SmallResult("first");
  const CostedGraph costed =
      MakeCostedGraph(*MakeAnalyticCostModel(result.graph, result.machine), result.best.plan.groups);
  const auto seconds = [&costed](const Plan& plan) {
    return Simulator(costed).Makespan({plan.placement, plan.sequence});
  };
  const double first = seconds(result.baselines[0].candidate.plan), second = seconds(result.best.plan);
  ASSERT_GT(first, second);
  EXPECT_THAT(PageOf(result), HasSubstr("<p class=\"verdict\">" + ReadableNumber(100 * (1 - second / first), 2) +
                                        " % <small>faster is the second plan: " + ReadableSeconds(second) +
                                        " against " + ReadableSeconds(first)));
}

TEST(CompareHtml, LeadsFromAMoveToItsOpInBothTimelines) {
  const testing::Browsed browsed = testing::Browse(PageOf(testing::SmallResult("first")), R"js(
    document.querySelector("#moves button").click();
    const text = document.getElementById("details").textContent;
    return [text.includes("Plan plan: on "), text.includes("Plan with: ")].join();)js");
  EXPECT_EQ(browsed.console, "");
  EXPECT_EQ(testing::Count(browsed.document, "<canvas"), 2U);
  EXPECT_THAT(browsed.document, HasSubstr("data-seen=\"true,true\""));
}

}  // namespace
}  // namespace millrace
