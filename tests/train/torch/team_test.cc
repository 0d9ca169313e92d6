// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/torch/team.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/train/torch/train_on_ranks.h"

namespace millrace {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

TEST(Team, OfOneOwnsAllAndLeads) {
  const Team team;
  EXPECT_EQ(team.size(), 1);
  EXPECT_TRUE(team.Leads());
  for (std::size_t part = 0; part < 5; ++part) EXPECT_TRUE(team.Owns(part));
  std::vector<int> numbers{3, 4};
  team.Share(numbers);
  EXPECT_THAT(numbers, ElementsAre(3, 4));
}

TEST(Team, GivesEachPartToOneRank) {
  std::vector<std::vector<char>> owns(3, std::vector<char>(7));
  const std::string fault = testing::OnRanks(3, [&](mpi::Ranks& ranks) {
    const Team team(&ranks);
    for (std::size_t part = 0; part < 7; ++part)
      owns[static_cast<std::size_t>(ranks.rank())][part] = team.Owns(part) ? 1 : 0;
  });
  EXPECT_EQ(fault, "");
  for (std::size_t part = 0; part < 7; ++part) EXPECT_EQ(owns[0][part] + owns[1][part] + owns[2][part], 1) << part;
}

TEST(Team, TellsEveryRankWhatTheOwnersHave) {
  std::vector<std::vector<std::string>> got(3);
  std::vector<std::vector<double>> values(3);
  const std::string fault = testing::OnRanks(3, [&](mpi::Ranks& ranks) {
    const Team team(&ranks);
    std::vector<std::string> texts(5);
    std::vector<double> numbers(5, -1);
    for (std::size_t part = 0; part < 5; ++part) {
      if (!team.Owns(part)) continue;
      texts[part] = std::string(part * 1000, static_cast<char>('a' + part));
      numbers[part] = static_cast<double>(part) / 8;
    }
    team.Share(texts);
    team.Share(numbers);
    got[static_cast<std::size_t>(ranks.rank())] = texts;
    values[static_cast<std::size_t>(ranks.rank())] = numbers;
  });
  EXPECT_EQ(fault, "");
  const std::vector<std::string> all{"", std::string(1000, 'b'), std::string(2000, 'c'), std::string(3000, 'd'),
                                     std::string(4000, 'e')};
  EXPECT_THAT(got, Each(all));
  EXPECT_THAT(values, Each(ElementsAre(0, 0.125, 0.25, 0.375, 0.5)));
}

// In float32 the order matters: 1e8 + 1 - 1e8 is 0, 1e8 - 1e8 + 1 is 1.
TEST(Team, AddsUpInTheOrderOfPartsHoweverManyShareThem) {
  const std::vector<float> of_parts{1e8f, 1, -1e8f, 3};
  float in_order = 0;
  for (const float value : of_parts) in_order += value;
  for (const int size : {2, 3, 4, 6}) {
    std::vector<float> sums(static_cast<std::size_t>(size));
    const std::string fault = testing::OnRanks(size, [&](mpi::Ranks& ranks) {
      const Team team(&ranks);
      std::vector<std::vector<float>> own;
      for (std::size_t part = 0; part < of_parts.size(); ++part) {
        if (team.Owns(part)) own.push_back({of_parts[part], 2 * of_parts[part]});
      }
      std::vector<float> sum(2);
      team.Sum(of_parts.size(), own, sum);
      sums[static_cast<std::size_t>(ranks.rank())] = sum[0];
      EXPECT_EQ(sum[1], 2 * sum[0]);
    });
    EXPECT_EQ(fault, "");
    EXPECT_THAT(sums, Each(in_order)) << size << " ranks";
  }
}

}  // namespace
}  // namespace millrace
