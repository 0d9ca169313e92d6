// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/targets/test_graphs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "millrace/errors/errors.h"
#include "millrace/experiments/quality/temperature.h"

namespace millrace {
namespace {

using ::testing::Contains;

TEST(UnseenRandomGraphs, AreAsManyOfEachFamilyAllDifferent) {
  std::set<std::string> names, graphs;
  for (const GraphUnderTest& graph : UnseenRandomGraphs(2)) {
    EXPECT_EQ(graph.graph.num_ops(), 50);
    names.insert(graph.name);
    graphs.insert(graph.graph.name());
  }
  EXPECT_EQ(names.size(), 10u);
  EXPECT_EQ(graphs.size(), 10u);
}

TEST(PublicNetworks, AreSplitByFamilySoThatNoVariantIsOnBothSides) {
  std::set<std::string> trained, tested;
  for (const char* name : {"resnet50", "light_resnet50", "profile_resnext50", "light_bvlc_alexnet", "light_zfnet512",
                           "profile_vgg16", "light_vgg19", "mobilenet_v2", "bert_2_layers", "squeezenet"})
    trained.insert(FamilyOfNetwork(name));
  for (const char* name : {"inception_v3", "light_inception_v1", "light_densenet121", "profile_nasnetamobile",
                           "profile_gnmt", "lstm_lm_8_chunks", "towers"})
    tested.insert(FamilyOfNetwork(name));
  for (const std::string& family : trained) EXPECT_FALSE(KeptForTesting(family)) << family;
  for (const std::string& family : tested) EXPECT_TRUE(KeptForTesting(family)) << family;
  EXPECT_EQ(FamilyOfNetwork("something"), "other");
  EXPECT_THAT(tested, Contains("recurrent"));
}

TEST(PublicNetworks, AreThoseOfOurOwnUpToASizeAndRefuseAFolderThatIsNotThere) {
  const std::vector<GraphUnderTest> few = PublicNetworks("", 100);
  ASSERT_GE(few.size(), 3u);
  for (const GraphUnderTest& graph : few) {
    EXPECT_LE(graph.graph.num_ops(), 100);
    EXPECT_NE(graph.family, "other");
  }
  EXPECT_GT(PublicNetworks("", 1000).size(), few.size());
  EXPECT_THROW(PublicNetworks("/nowhere", 100), InvalidInput);
}

TEST(Parallelism, IsOneOfAChainAndTheNumberOfTowersOfTowers) {
  GraphData chain;
  chain.name = "chain";
  for (int i = 0; i < 4; ++i) {
    Op op;
    op.name = "op" + std::to_string(i);
    op.type = "Task";
    op.seconds.everywhere = i + 1.0;
    chain.ops.push_back(op);
    if (i > 0) chain.tensors.push_back({"t" + std::to_string(i), i - 1, {i}, 8, false});
  }
  EXPECT_NEAR(Parallelism(ComputationGraph(chain)), 1, 1e-12);
  chain.tensors.clear();
  EXPECT_NEAR(Parallelism(ComputationGraph(chain)), 10.0 / 4, 1e-12);
  EXPECT_TRUE(WithParallelism({{"free", "x", ComputationGraph(chain)}}, 2.6).empty());
}

TEST(Temperature, ShowsUniformChoicesTheSameAtAnyRewardTemperatureAndNumberOfThreads) {
  TemperatureOptions options;
  options.reward = {0.1, 1};
  options.softmax = {1};
  options.samples = 8;
  options.graphs = 2;
  const std::vector<Table> one =
      TemperatureTables(*MakeUniformPolicy(), *MakeUniformPolicy(), options, [](int, int) {});
  options.threads = 3;
  const std::vector<Table> three =
      TemperatureTables(*MakeUniformPolicy(), *MakeUniformPolicy(), options, [](int, int) {});
  ASSERT_EQ(one.size(), 3u);
  for (std::size_t t = 0; t < one.size(); ++t) {
    ASSERT_EQ(one[t].rows.size(), 2u);
    for (std::size_t r = 0; r < 2; ++r) {
      for (std::size_t c = 0; c < one[t].rows[r].size(); ++c)
        EXPECT_EQ(one[t].rows[r][c].text, three[t].rows[r][c].text);
      EXPECT_LT(one[t].rows[r][3].numbers[0], 1);  // worse than HEFT on average
      EXPECT_GT(one[t].rows[r][5].numbers[0], 50);
      EXPECT_EQ(one[t].rows[r][6].numbers[0], 100);
      EXPECT_EQ(one[t].rows[r][7].numbers, one[t].rows[r][2].numbers);
    }
  }
}

}  // namespace
}  // namespace millrace
