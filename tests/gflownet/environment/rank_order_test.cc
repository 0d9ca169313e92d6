// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/environment/rank_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "millrace/gflownet/environment/environment.h"
#include "tests/gflownet/environment/random_environment.h"

namespace millrace {
namespace {

TEST(RankOrder, NamesEveryGroupOnceAndItsReadersByTheirRanks) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Random random(seed);
    const testing::EnvironmentProblem problem(random, {});
    const Environment& environment = problem.environment;
    const RankOrder& order = environment.rank_order();
    ASSERT_EQ(order.groups().size(), static_cast<std::size_t>(environment.num_groups()));
    for (std::size_t rank = 0; rank < order.groups().size(); ++rank) {
      const std::int32_t group = order.groups()[rank];
      ASSERT_EQ(environment.rank_positions()[static_cast<std::size_t>(group)], static_cast<std::int32_t>(rank));
      std::vector<std::pair<std::int32_t, double>> readers, successors;
      for (const RankOrder::Reader& reader : order.Readers(rank)) readers.emplace_back(reader.rank, reader.bytes);
      for (const GroupEdge& edge : environment.costed().Successors(group))
        successors.emplace_back(environment.rank_positions()[static_cast<std::size_t>(edge.group)], edge.bytes);
      std::sort(successors.begin(), successors.end());
      EXPECT_EQ(readers, successors);
      EXPECT_TRUE(readers.empty() || readers.front().first > static_cast<std::int32_t>(rank));
    }
  }
}

}  // namespace
}  // namespace millrace
