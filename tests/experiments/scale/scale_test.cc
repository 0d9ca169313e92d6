// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/scale/scale.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <regex>
#include <string>

#include "millrace/errors/errors.h"
#include "millrace/experiments/scale/scale_plot.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;

TEST(CostOfStage, SaysWhatTheWorkSaysAndCountsTheMemoryOfItsProcessAlone) {
  const auto holding = [](std::size_t bytes) {
    return CostOfStage(
        [bytes] {
          const std::unique_ptr<char[]> memory(new char[bytes]);
          std::memset(memory.get(), static_cast<int>(bytes % 251), bytes);
          return StageSeconds{memory[bytes / 2] == 0 ? 1.0 : 2.5, 0.5};
        },
        60);
  };
  constexpr std::size_t kLarge = 300'000'003;
  const auto large = holding(kLarge);
  const auto small = holding(1003);
  ASSERT_TRUE(large && small);
  EXPECT_EQ(large->seconds.wall, 2.5);
  EXPECT_EQ(large->seconds.processor, 0.5);
  EXPECT_GE(large->peak_bytes, kLarge);
  EXPECT_LT(small->peak_bytes, large->peak_bytes - 200e6);
}

TEST(CostOfStage, IsNothingWhereTheWorkFailsDiesOrTakesTooLong) {
  EXPECT_FALSE(CostOfStage([]() -> StageSeconds { throw WorkFailed("on purpose"); }, 60));
  EXPECT_FALSE(CostOfStage([]() -> StageSeconds { ::_exit(0); }, 60));
  EXPECT_FALSE(CostOfStage(
      []() -> StageSeconds {
        while (true) ::pause();
      },
      0.5));
}

TEST(GrowthExponent, IsThatOfAPowerLaw) {
  const std::vector<double> x = {1e3, 1e4, 8e4};
  for (const double exponent : {0.0, 1.0, 1.5, 2.0}) {
    std::vector<double> y;
    for (const double value : x) y.push_back(3e-7 * std::pow(value, exponent));
    EXPECT_NEAR(GrowthExponent(x, y), exponent, 1e-9);
  }
}

TEST(GrowthExponent, IsNoneOfOnePointAndLeavesOutWhatIsNoNumber) {
  const double none = std::nan("");
  EXPECT_TRUE(std::isnan(GrowthExponent(std::vector<double>{1e3}, std::vector<double>{1})));
  EXPECT_TRUE(std::isnan(GrowthExponent(std::vector<double>{1e3, 1e3}, std::vector<double>{1, 2})));
  EXPECT_TRUE(std::isnan(GrowthExponent(std::vector<double>{1e3, 1e4}, std::vector<double>{1, none})));
  EXPECT_NEAR(GrowthExponent(std::vector<double>{1, 10, 100}, std::vector<double>{1, none, 100}), 1, 1e-12);
}

std::vector<ScalePoint> Points() {
  return {{"read", 2, 1000, StageCost{{0.01, 0.01}, 2e7}},
          {"read", 2, 10000, StageCost{{0.1, 0.1}, 4e7}},
          {"read", 40, 1000, StageCost{{0.1, 0.1}, 5e7}},
          {"read", 40, 10000, std::nullopt}};
}

TEST(ScaleTables, HaveARowForEveryStageAndDegreeAndADashForWhatDidNotEnd) {
  const std::vector<Table> tables = ScaleTables(Points());
  ASSERT_EQ(tables.size(), 3U);
  ASSERT_EQ(tables[0].rows.size(), 2U);
  EXPECT_EQ(tables[0].rows[0][2].text, "0.01");
  EXPECT_EQ(tables[0].rows[0].back().text, "1.00");
  EXPECT_EQ(tables[0].rows[1][3].text, "-");
  EXPECT_EQ(tables[0].rows[1].back().text, "-");
  EXPECT_EQ(tables[2].rows[0][3].text, "40");
}

TEST(ScalePlot, DrawsALineForEveryStageAndDegreeWithinThePicture) {
  const std::string svg = ScalePlot(Points());
  EXPECT_THAT(svg, HasSubstr("<svg xmlns"));
  EXPECT_THAT(svg, HasSubstr("read"));
  EXPECT_THAT(svg, HasSubstr("stroke-dasharray"));
  std::size_t lines = 0;
  for (std::size_t at = 0; (at = svg.find("<polyline", at)) != std::string::npos; ++at) ++lines;
  EXPECT_EQ(lines, 4U);  // two degrees in two panels
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  const std::regex size("width=\"([0-9]+)\" height=\"([0-9]+)\" viewBox"),
      text("<text x=\"([0-9.]+)\" y=\"([0-9.]+)\"");
  std::smatch picture;
  ASSERT_TRUE(std::regex_search(svg, picture, size));
  for (auto at = std::sregex_iterator(svg.begin(), svg.end(), text); at != std::sregex_iterator(); ++at) {
    EXPECT_LT(std::stod((*at)[1]), std::stod(picture[1])) << at->str();
    EXPECT_LT(std::stod((*at)[2]), std::stod(picture[2])) << at->str();
  }
}

TEST(ScalePlot, OfNothingIsAnEmptyPicture) {
  const std::string svg = ScalePlot({{"read", 2, 1000, std::nullopt}});
  EXPECT_THAT(svg, HasSubstr("</svg>"));
  EXPECT_EQ(svg.find("<polyline"), std::string::npos);
}

}  // namespace
}  // namespace millrace
