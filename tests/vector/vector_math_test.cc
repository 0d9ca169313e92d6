// SPDX-License-Identifier: Apache-2.0
#include "millrace/vector/vector_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/vector/instruction_sets.h"

// Every function against the standard library's in double, over all magnitudes that a float has, by every version that
// this processor can run.
namespace millrace {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kLargest = std::numeric_limits<float>::max();
constexpr float kError = 1e-6f;
const double kLeastExp = std::exp2(-125.5);  // what is below becomes 0

MILLRACE_INLINE void ExpOfAll(const float* x, float* y, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = vector_math::Exp(x[i]);
}
MILLRACE_INLINE void LogisticOfAll(const float* x, float* y, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = vector_math::Logistic(x[i]);
}
MILLRACE_INLINE void TanhOfAll(const float* x, float* y, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = vector_math::Tanh(x[i]);
}
MILLRACE_INLINE void ErfOfAll(const float* x, float* y, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = vector_math::Erf(x[i]);
}

// Finite floats of both signs and every exponent, the tiniest and the largest among them, and many where the functions
// bend.
std::vector<float> Inputs() {
  std::vector<float> inputs = {
      0, -0.0f, std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::min(), kLargest, -kLargest};
  constexpr std::uint32_t kStep = 9973;  // prime, so that all digits vary
  for (std::uint32_t bits = 0; bits < 0x7f800000u; bits += kStep) {
    inputs.push_back(std::bit_cast<float>(bits));
    inputs.push_back(-std::bit_cast<float>(bits));
  }
  for (float x = -110; x < 110; x += 0.00390625f) inputs.push_back(x);
  return inputs;
}

// `much_off` says by how much an answer is wrong, in units of what is promised.
template <auto Body>
void ExpectEverywhere(const std::function<double(float x, float y)>& much_off) {
  static const std::vector<float> inputs = Inputs();
  for (const auto& [name, function] : testing::VersionsHere<Body>()) {
    std::vector<float> outputs(inputs.size());
    function(inputs.data(), outputs.data(), static_cast<std::int64_t>(inputs.size()));
    double most = 0;
    std::size_t worst = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const double off = much_off(inputs[i], outputs[i]);
      if (off > most || std::isnan(off)) most = off, worst = i;
    }
    EXPECT_LE(most, 1) << name << " at " << inputs[worst] << " says " << outputs[worst];
  }
}

template <auto Body>
void ExpectExactly(const std::vector<std::pair<float, float>>& answers) {
  for (const auto& [name, function] : testing::VersionsHere<Body>()) {
    for (const auto& [x, expected] : answers) {
      // A whole vector, so that the loop is the vectorised one.
      const std::vector<float> inputs(64, x);
      std::vector<float> outputs(64, 7);
      function(inputs.data(), outputs.data(), 64);
      for (const float y : outputs)
        ASSERT_TRUE(std::isnan(expected) ? std::isnan(y) : y == expected) << name << " of " << x << " says " << y;
    }
  }
}

TEST(Exp, IsWithinItsRelativeErrorBetweenZeroAndInfinity) {
  ExpectEverywhere<&ExpOfAll>([](float x, float y) {
    const double exact = std::exp(static_cast<double>(x));
    // Either side of an end is right where the result is as close to it as the error.
    for (const double end : {kLeastExp, static_cast<double>(kLargest)}) {
      if (std::abs(exact - end) <= kError * end) return 0.0;
    }
    if (exact < kLeastExp) return y == 0 ? 0.0 : 2.0;
    if (exact > static_cast<double>(kLargest)) return y == kInfinity ? 0.0 : 2.0;
    return std::abs(static_cast<double>(y) - exact) / (kError * exact);
  });
}

TEST(Exp, OfTheEndsOfTheLine) {
  ExpectExactly<&ExpOfAll>({{0.0f, 1.0f},
                            {-0.0f, 1.0f},
                            {kInfinity, kInfinity},
                            {-kInfinity, 0.0f},
                            {kLargest, kInfinity},
                            {-kLargest, 0.0f},
                            {-104.0f, 0.0f},
                            {kNaN, kNaN}});
}

TEST(Logistic, IsWithinItsErrorEverywhere) {
  ExpectEverywhere<&LogisticOfAll>([](float x, float y) {
    return std::abs(static_cast<double>(y) - 1 / (1 + std::exp(-static_cast<double>(x)))) / kError;
  });
}

TEST(Logistic, OfTheEndsOfTheLine) {
  ExpectExactly<&LogisticOfAll>(
      {{0.0f, 0.5f}, {kInfinity, 1.0f}, {-kInfinity, 0.0f}, {kLargest, 1.0f}, {-kLargest, 0.0f}, {kNaN, kNaN}});
}

TEST(Tanh, IsWithinItsErrorEverywhere) {
  ExpectEverywhere<&TanhOfAll>(
      [](float x, float y) { return std::abs(static_cast<double>(y) - std::tanh(static_cast<double>(x))) / kError; });
}

TEST(Tanh, OfTheEndsOfTheLine) {
  ExpectExactly<&TanhOfAll>({{0.0f, 0.0f},
                             {-0.0f, -0.0f},
                             {kInfinity, 1.0f},
                             {-kInfinity, -1.0f},
                             {kLargest, 1.0f},
                             {-kLargest, -1.0f},
                             {kNaN, kNaN}});
}

TEST(Erf, IsWithinItsErrorEverywhere) {
  ExpectEverywhere<&ErfOfAll>(
      [](float x, float y) { return std::abs(static_cast<double>(y) - std::erf(static_cast<double>(x))) / kError; });
}

TEST(Erf, OfTheEndsOfTheLine) {
  ExpectExactly<&ErfOfAll>({{0.0f, 0.0f},
                            {-0.0f, -0.0f},
                            {kInfinity, 1.0f},
                            {-kInfinity, -1.0f},
                            {kLargest, 1.0f},
                            {-kLargest, -1.0f},
                            {kNaN, kNaN}});
}

TEST(OddFunctions, AreOddToTheLastBit) {
  for (float x = 0; x < 10; x += 0.0078125f) {
    EXPECT_EQ(vector_math::Tanh(-x), -vector_math::Tanh(x));
    EXPECT_EQ(vector_math::Erf(-x), -vector_math::Erf(x));
  }
}

// Versions round in different places, and differ by no more than the error that each of them may have.
template <auto Body>
void ExpectVersionsToAgree(float error) {
  std::vector<float> inputs;
  for (float x = -20; x < 20; x += 0.00390625f) inputs.push_back(x);
  std::vector<std::vector<float>> outputs;
  for (const auto& [name, function] : testing::VersionsHere<Body>()) {
    outputs.emplace_back(inputs.size());
    function(inputs.data(), outputs.back().data(), static_cast<std::int64_t>(inputs.size()));
    for (std::size_t i = 0; i < inputs.size(); ++i)
      EXPECT_NEAR(outputs.back()[i], outputs.front()[i], error * std::max(1.0f, std::fabs(outputs.front()[i])))
          << name << " at " << inputs[i];
  }
}

TEST(VectorMath, SaysAlmostTheSameByEveryInstructionSet) {
  ExpectVersionsToAgree<&ExpOfAll>(kError);
  ExpectVersionsToAgree<&LogisticOfAll>(kError);
  ExpectVersionsToAgree<&TanhOfAll>(kError);
  ExpectVersionsToAgree<&ErfOfAll>(kError);
}

}  // namespace
}  // namespace millrace
