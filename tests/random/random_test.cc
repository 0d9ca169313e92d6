// SPDX-License-Identifier: Apache-2.0
#include "millrace/random/random.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>

#include "millrace/random/split_mix.h"

namespace millrace {
namespace {

// The first draws of SplitMix64 with seed 1234567, as its reference implementation prints them.
TEST(Scattered, DrawsWhatSplitMixDoes) {
  std::uint64_t state = 1234567;
  for (const std::uint64_t drawn : {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                    4593380528125082431u, 16408922859458223821u}) {
    EXPECT_EQ(Scattered(state), drawn);
    state += kSplitMixStep;
  }
}

TEST(Random, IsXoshiro256StarStarSeededBySplitMix64) {
  Random random(0);
  EXPECT_EQ(random.Next(), 0x99ec5f36cb75f2b4U);
  EXPECT_EQ(random.Next(), 0xbf6e1f784956452aU);
  EXPECT_EQ(random.Next(), 0x1a5f849d4933e6e0U);
}

TEST(Random, ForksStreamsThatDependOnSeedAndNumberAlone) {
  Random used(7);
  for (int i = 0; i < 100; ++i) used.Next();
  EXPECT_EQ(used.Fork(3).Next(), Random(7).Fork(3).Next());
  std::set<std::uint64_t> first;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    first.insert(Random(seed).Next());
    for (std::uint64_t stream = 0; stream < 50; ++stream) first.insert(Random(seed).Fork(stream).Next());
  }
  EXPECT_EQ(first.size(), 50U * 51U);
}

TEST(Random, DrawsBelowABoundWithoutBias) {
  Random random(1);
  std::array<int, 7> counts{};
  constexpr int kDraws = 70000;
  for (int i = 0; i < kDraws; ++i) ++counts.at(random.Below(counts.size()));
  for (const int count : counts) EXPECT_NEAR(count, kDraws / 7, 500);  // five standard deviations
  EXPECT_EQ(random.Below(1), 0U);
  // With a bound just over half the range a plain remainder would favour the low half two to one.
  const std::uint64_t bound = (1ULL << 63) + (1ULL << 62);
  int low = 0;
  for (int i = 0; i < 10000; ++i) low += random.Below(bound) < bound / 2 ? 1 : 0;
  EXPECT_NEAR(low, 5000, 250);
}

TEST(Random, HasTheMomentsOfItsDistributions) {
  Random random(2);
  constexpr int kDraws = 100000;
  double uniform = 0, between = 0, normal = 0, squares = 0, logs = 0, log_squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double u = random.Uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    const double within = random.Uniform(-3, 5);
    ASSERT_GE(within, -3);
    ASSERT_LT(within, 5);
    uniform += u;
    between += within;
    const double n = random.Normal();
    normal += n;
    squares += n * n;
    const double l = std::log(random.LogNormal(1, 0.3));
    logs += l;
    log_squares += (l - 1) * (l - 1);
  }
  EXPECT_NEAR(uniform / kDraws, 0.5, 0.005);
  EXPECT_NEAR(between / kDraws, 1, 0.04);
  EXPECT_NEAR(normal / kDraws, 0, 0.016);
  EXPECT_NEAR(squares / kDraws, 1, 0.025);
  EXPECT_NEAR(logs / kDraws, 1, 0.005);
  EXPECT_NEAR(std::sqrt(log_squares / kDraws), 0.3, 0.004);
}

TEST(Random, TheLargestOfLogitsWithGumbelNoiseIsADrawFromTheirSoftmax) {
  constexpr int kDraws = 100000;
  const std::array<double, 3> logits = {0, 1, -2};
  Random random(3);
  std::array<int, 3> counts = {};
  for (int i = 0; i < kDraws; ++i) {
    std::array<double, 3> scores = logits;
    for (double& score : scores) score += random.Gumbel();
    ++counts[static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin())];
  }
  const double all = std::exp(logits[0]) + std::exp(logits[1]) + std::exp(logits[2]);
  for (std::size_t i = 0; i < counts.size(); ++i) EXPECT_NEAR(counts[i], kDraws * std::exp(logits[i]) / all, 700);
}

}  // namespace
}  // namespace millrace
