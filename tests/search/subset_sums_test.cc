// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/subset_sums.h"

#include <gtest/gtest.h>

#include <vector>

#include "millrace/random/random.h"

namespace millrace {
namespace {

TEST(SubsetSums, SayOfARangeWhatAllSubsetsSay) {
  Random random(91);
  int some = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<double> numbers(random.Below(9));
    for (double& number : numbers) number = random.Uniform();
    const double low = random.Uniform(0, 3);
    const double high = low + random.Uniform(0, 0.05);
    bool any = false;
    for (unsigned subset = 0; subset < 1U << numbers.size(); ++subset) {
      double sum = 0;
      for (std::size_t i = 0; i < numbers.size(); ++i) sum += (subset >> i & 1) != 0 ? numbers[i] : 0;
      any = any || (sum >= low && sum <= high);
    }
    SubsetSums sums;
    sums.Set(numbers);
    ASSERT_EQ(sums.AnyWithin(low, high), any) << round;
    some += any ? 1 : 0;
  }
  EXPECT_GT(some, 200);
  EXPECT_LT(some, 1800);
}

}  // namespace
}  // namespace millrace
