// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/compare_html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "millrace/cost/analytic_cost.h"
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
