// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "millrace/random/random.h"

namespace millrace {
namespace {

using ::testing::DoubleEq;
using ::testing::Optional;

TEST(ShareOfGap, IsNoneAtTheReferenceAllAtTheBestAndNegativeBeyond) {
  EXPECT_THAT(ShareOfGap(12, 12, 10), Optional(DoubleEq(0)));
  EXPECT_THAT(ShareOfGap(12, 11.5, 10), Optional(DoubleEq(0.25)));
  EXPECT_THAT(ShareOfGap(12, 10, 10), Optional(DoubleEq(1)));
  EXPECT_THAT(ShareOfGap(12, 14, 10), Optional(DoubleEq(-1)));
}

TEST(ShareOfGap, IsNothingWhereTheReferenceIsNearlyTheBest) {
  EXPECT_EQ(ShareOfGap(10.009, 11, 10), std::nullopt);
  EXPECT_NE(ShareOfGap(10.011, 11, 10), std::nullopt);
  EXPECT_NE(ShareOfGap(10.009, 11, 10, 1e-4), std::nullopt);
}

TEST(Summary, MeansAndDeviationAreThoseOfTheTextbook) {
  const std::vector<double> values = {1, 2, 4};
  EXPECT_DOUBLE_EQ(Mean(values), 7.0 / 3);
  EXPECT_DOUBLE_EQ(GeometricMean(values), 2);
  EXPECT_NEAR(Deviation(values), 1.5275252316519468, 1e-12);
  EXPECT_EQ(Deviation(std::vector<double>{3}), 0);
  EXPECT_TRUE(std::isnan(Mean({})));
  EXPECT_TRUE(std::isnan(GeometricMean({})));
}

TEST(Bootstrap, HoldsTheTrueMeanInAboutNineteenOfTwentySamples) {
  Random random(5);
  int held = 0;
  constexpr int kSamples = 150;
  for (int i = 0; i < kSamples; ++i) {
    std::vector<double> values;
    for (int j = 0; j < 40; ++j) values.push_back(random.Normal() + 3);
    const Estimate estimate = Bootstrap(values, Mean, static_cast<std::uint64_t>(i));
    EXPECT_EQ(estimate.value, Mean(values));
    held += estimate.low <= 3 && 3 <= estimate.high;
  }
  EXPECT_GT(held, kSamples * 85 / 100);
  EXPECT_LT(held, kSamples);
}

TEST(Bootstrap, OfOneValueIsThatValueAndOfNothingIsNone) {
  const Estimate one = Bootstrap(std::vector<double>{2}, Mean);
  EXPECT_EQ(one.low, 2);
  EXPECT_EQ(one.high, 2);
  EXPECT_TRUE(std::isnan(Bootstrap({}, Mean).value));
}

TEST(Duel, CountsWhatIsEqualButForRoundingAsEqual) {
  const std::vector<double> own = {1, 2, 3, 4}, other = {2, 2 * (1 + 1e-12), 2, 3};
  const Duel duel = Compare(own, other);
  EXPECT_EQ(duel.wins, 1u);
  EXPECT_EQ(duel.ties, 1u);
  EXPECT_EQ(duel.losses, 2u);
  EXPECT_EQ(duel.instances(), 4u);
  EXPECT_NEAR(duel.ratio.value, std::pow(2 * 1 * 2.0 / 3 * 3.0 / 4, 0.25), 1e-9);
}

TEST(ChanceOfDifference, CountsAllWaysToShareTheValuesOut) {
  const std::vector<double> low = {1, 2, 3};
  const std::vector<double> high = {4, 5, 6};
  EXPECT_DOUBLE_EQ(ChanceOfDifference(low, high), 2.0 / 20);  // this way and the other way round
  EXPECT_DOUBLE_EQ(ChanceOfDifference(high, low), 2.0 / 20);
  EXPECT_DOUBLE_EQ(ChanceOfDifference(std::vector<double>{1, 5, 3}, std::vector<double>{4, 2, 6}), 14.0 / 20);
  EXPECT_DOUBLE_EQ(ChanceOfDifference(std::vector<double>{0.1, 0.1}, std::vector<double>{0.1, 0.1, 0.1}), 1);
}

TEST(ChanceOfDifference, IsSmallAsOftenAsItSaysWhereNothingDiffers) {
  Random random(3);
  int small = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> a(5), b(5);
    for (double& value : a) value = random.Uniform();
    for (double& value : b) value = random.Uniform();
    if (ChanceOfDifference(a, b) <= 0.1) ++small;
  }
  EXPECT_NEAR(small, kTrials * 0.1, 60);
}

}  // namespace
}  // namespace millrace
