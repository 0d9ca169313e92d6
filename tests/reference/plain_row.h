// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "millrace/network/feature_row.h"

// A row of features as the plainest formulas have it, and how a table of features is held against it.
namespace millrace::testing {

// Every feature by its name, in the order that weights are trained for.
template <typename Feature>
using PlainRow = std::vector<std::pair<Feature, double>>;

// Each number is within tolerance * (1 + its size) of the plain one, and the enum has the order of the plain row.
template <typename Feature>
void ExpectRow(std::span<const float> row, const PlainRow<Feature>& plain, double tolerance, const std::string& where) {
  ASSERT_EQ(plain.size(), static_cast<std::size_t>(kCountOf<Feature>)) << where;
  ASSERT_EQ(row.size(), plain.size()) << where;
  for (std::size_t k = 0; k < plain.size(); ++k) {
    ASSERT_EQ(static_cast<std::size_t>(plain[k].first), k) << where << ": another order than weights are trained for";
    EXPECT_NEAR(row[k], plain[k].second, tolerance * (1 + std::abs(plain[k].second))) << where << ", number " << k;
  }
}

// The same for row `number` of a table.
template <typename Feature>
void ExpectRow(const std::vector<float>& table, std::size_t number, const PlainRow<Feature>& plain, double tolerance,
               const std::string& where) {
  constexpr auto kWidth = static_cast<std::size_t>(kCountOf<Feature>);
  ASSERT_LE((number + 1) * kWidth, table.size()) << where;
  ExpectRow(std::span(table).subspan(number * kWidth, kWidth), plain, tolerance, where);
}

}  // namespace millrace::testing
