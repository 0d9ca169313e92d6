// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/curve_plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace millrace {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

int Times(const std::string& text, const std::string& word) {
  int times = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++times;
  return times;
}

// The height of the first dot of a colour.
double HeightOf(const std::string& svg, const std::string& colour) {
  const std::size_t dot = svg.find("r=\"3\" fill=\"" + colour);
  const std::size_t height = svg.rfind("cy=\"", dot);
  return std::stod(svg.substr(height + 4));
}

TEST(CurvePlot, HasALineADotForEachPointAndANameForEachCurve) {
  const std::string svg = CurvePlot({{"one", {{1, 2}, {2, 3}}}, {"two", {{1, 5}}}}, {.across = "a", .up = "b"});
  EXPECT_EQ(Times(svg, "<polyline"), 2);
  EXPECT_EQ(Times(svg, "r=\"3\""), 3);
  for (const char* words : {">one<", ">two<", ">a<", ">b<", "</svg>"}) EXPECT_THAT(svg, HasSubstr(words));
}

TEST(CurvePlot, DrawsSmallerNumbersHigherUpWhereTheyAreBetter) {
  const std::vector<Curve> curves = {{"low", {{1, 1}}}, {"high", {{1, 2}}}};
  const std::string up = CurvePlot(curves, {.across = "a", .up = "b"});
  EXPECT_GT(HeightOf(up, "#d62728"), HeightOf(up, "#ff9896"));  // SVG counts from the top
  const std::string down = CurvePlot(curves, {.across = "a", .up = "b", .downwards = true});
  EXPECT_LT(HeightOf(down, "#d62728"), HeightOf(down, "#ff9896"));
}

TEST(CurvePlot, LeavesOutWhatIsNotFiniteAndStandsHavingNothingToShow) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const std::string svg = CurvePlot({{"one", {{none, 1}, {1, 2}}}, {"nothing", {}}}, {.across = "a", .up = "b"});
  EXPECT_EQ(Times(svg, "r=\"3\""), 1);
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(CurvePlot({}, {.across = "a", .up = "b"}), Not(HasSubstr("inf")));
}

}  // namespace
}  // namespace millrace
