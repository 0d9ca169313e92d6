// SPDX-License-Identifier: Apache-2.0
#include "millrace/workloads/random_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "millrace/errors/errors.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

double MeanBytes(const ComputationGraph& graph) {
  double sum = 0;
  for (const Tensor& tensor : graph.tensors()) sum += tensor.bytes;
  return sum / graph.num_tensors();
}

double MeanSeconds(const ComputationGraph& graph) {
  double sum = 0;
  for (const Op& op : graph.ops()) sum += op.seconds.everywhere.value();
  return sum / graph.num_ops();
}

std::int64_t Edges(const ComputationGraph& graph) {
  std::int64_t edges = 0;
  for (const Tensor& tensor : graph.tensors()) edges += static_cast<std::int64_t>(tensor.consumers.size());
  return edges;
}

// Pieces of the graph, directions aside.
int Pieces(const ComputationGraph& graph) {
  std::vector<bool> seen(static_cast<std::size_t>(graph.num_ops()));
  int pieces = 0;
  for (OpId start = 0; start < graph.num_ops(); ++start) {
    if (seen[static_cast<std::size_t>(start)]) continue;
    ++pieces;
    std::vector<OpId> stack{start};
    while (!stack.empty()) {
      const OpId op = stack.back();
      stack.pop_back();
      if (seen[static_cast<std::size_t>(op)]) continue;
      seen[static_cast<std::size_t>(op)] = true;
      for (const OpId next : graph.Successors(op)) stack.push_back(next);
      for (const OpId next : graph.Predecessors(op)) stack.push_back(next);
    }
  }
  return pieces;
}

bool Same(const ComputationGraph& a, const ComputationGraph& b) {
  return a.name() == b.name() && a.ops() == b.ops() && a.tensors() == b.tensors();
}

class EveryFamily : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryFamily, HasExactlyTheOpsAskedForInTopologicalOrderAndHangsTogether) {
  for (const std::int64_t ops : {1, 2, 3, 4, 5, 7, 12, 50, 333, 2000}) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      const ComputationGraph graph = MakeRandomGraph(GetParam(), {.ops = ops, .seed = seed});
      ASSERT_EQ(graph.num_ops(), ops);
      ASSERT_EQ(graph.num_tensors(), ops);
      // Layers of two ops each may make two chains side by side.
      if (GetParam() != "layered") {
        EXPECT_EQ(Pieces(graph), 1) << ops << " ops, seed " << seed;
      }
      for (TensorId id = 0; id < graph.num_tensors(); ++id) {
        const Tensor& tensor = graph.tensor(id);
        EXPECT_EQ(tensor.producer, id);
        EXPECT_EQ(tensor.output, tensor.consumers.empty());
        for (const OpId consumer : tensor.consumers) EXPECT_GT(consumer, id);
      }
    }
  }
}

TEST_P(EveryFamily, DrawsNoLinkTwice) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    // The graph drops repeated consumers, so they would be missing from the count that these families fix.
    const ComputationGraph graph = MakeRandomGraph(GetParam(), {.ops = 60, .seed = seed});
    if (GetParam() == "ws") {
      EXPECT_GE(Edges(graph), 120);
    }
    if (GetParam() == "ba") {
      EXPECT_EQ(Edges(graph), 2 * (60 - 2));
    }
    if (GetParam() == "layered") {
      std::int64_t neighbours = 0;
      for (const Tensor& tensor : graph.tensors()) {
        for (const OpId consumer : tensor.consumers) {
          neighbours += *graph.op(consumer).layer == *graph.op(tensor.producer).layer + 1;
        }
      }
      const double skips = std::ceil(static_cast<double>(neighbours) * 0.14 / 0.86);
      EXPECT_EQ(static_cast<double>(Edges(graph) - neighbours), skips);
    }
  }
}

TEST_P(EveryFamily, HoldsTheCommunicationToComputationRatioExactly) {
  for (const double ccr : {0.1, 1.0, 5.0}) {
    for (const std::int64_t ops : {1, 10, 500}) {
      const ComputationGraph graph = MakeRandomGraph(GetParam(), {.ops = ops, .ccr = ccr, .seed = 7});
      const double expected = ccr * MeanSeconds(graph) * 1e9;
      EXPECT_NEAR(MeanBytes(graph), expected, 1e-9 * expected);
    }
  }
  const ComputationGraph free = MakeRandomGraph(GetParam(), {.ops = 50, .ccr = 0});
  for (const Tensor& tensor : free.tensors()) EXPECT_EQ(tensor.bytes, 0);
}

TEST_P(EveryFamily, DrawsSecondsAndBytesUniformly) {
  const ComputationGraph graph = MakeRandomGraph(GetParam(), {.ops = 20000, .ccr = 2, .seed = 3});
  EXPECT_NEAR(MeanSeconds(graph), 0.5, 0.01);
  double seconds_squares = 0;
  double bytes_squares = 0;
  const double mean_bytes = MeanBytes(graph);
  for (const Op& op : graph.ops()) {
    EXPECT_GE(*op.seconds.everywhere, 0);
    EXPECT_LT(*op.seconds.everywhere, 1);
    seconds_squares += *op.seconds.everywhere * *op.seconds.everywhere;
  }
  for (const Tensor& tensor : graph.tensors()) bytes_squares += std::pow(tensor.bytes / mean_bytes, 2);
  EXPECT_NEAR(seconds_squares / graph.num_ops(), 1.0 / 3, 0.01);    // of U(0, 1)
  EXPECT_NEAR(bytes_squares / graph.num_tensors(), 4.0 / 3, 0.03);  // of U(0, 2)
}

TEST_P(EveryFamily, IsTheSameForTheSameSeedAndAnotherForAnother) {
  const auto make = [&](std::uint64_t seed) { return MakeRandomGraph(GetParam(), {.ops = 80, .seed = seed}); };
  EXPECT_TRUE(Same(make(5), make(5)));
  std::set<std::vector<OpId>> structures;
  std::set<double> seconds;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const ComputationGraph graph = make(seed);
    std::vector<OpId> structure;
    for (const Tensor& tensor : graph.tensors()) {
      structure.push_back(-1);
      structure.insert(structure.end(), tensor.consumers.begin(), tensor.consumers.end());
    }
    structures.insert(structure);
    seconds.insert(*graph.op(0).seconds.everywhere);
  }
  EXPECT_EQ(structures.size(), 10U);
  EXPECT_EQ(seconds.size(), 10U);
}

TEST_P(EveryFamily, ChangesOnlyTheBytesWithTheRatio) {
  const ComputationGraph one = MakeRandomGraph(GetParam(), {.ops = 80, .ccr = 1, .seed = 4});
  const ComputationGraph three = MakeRandomGraph(GetParam(), {.ops = 80, .ccr = 3, .seed = 4});
  EXPECT_EQ(one.ops(), three.ops());
  for (TensorId id = 0; id < one.num_tensors(); ++id) {
    EXPECT_EQ(one.tensor(id).consumers, three.tensor(id).consumers);
    EXPECT_NEAR(three.tensor(id).bytes, 3 * one.tensor(id).bytes, 1e-6 * three.tensor(id).bytes);
  }
}

TEST_P(EveryFamily, HasSaneDegrees) {
  const ComputationGraph graph = MakeRandomGraph(GetParam(), {.ops = 5000, .seed = 1});
  std::size_t most = 0;
  for (OpId op = 0; op < graph.num_ops(); ++op) {
    most = std::max(most, graph.Successors(op).size() + graph.Predecessors(op).size());
  }
  const double mean = 2.0 * static_cast<double>(Edges(graph)) / graph.num_ops();
  if (GetParam() == "layered") {
    // sqrt(5000) times 0.2 per op and more: the layers' links are not sparse.
    EXPECT_GT(mean, 20);
    EXPECT_LT(mean, 60);
  } else {
    EXPECT_NEAR(mean, 4, 0.2);
    EXPECT_GE(most, GetParam() == "ba" ? 60U : 9U);  // hubs are what preferential attachment is about
    EXPECT_LE(most, GetParam() == "ba" ? 1000U : 25U);
  }
}

TEST_P(EveryFamily, MakesAHundredThousandOps) {
  const ComputationGraph graph = MakeRandomGraph(GetParam(), {.ops = 100000, .seed = 2});
  EXPECT_EQ(graph.num_ops(), 100000);
  EXPECT_GT(Edges(graph), 190000);
  EXPECT_LT(Edges(graph), 12'000'000);
}

TEST_P(EveryFamily, StatesSecondsByKindWithinTheHeterogeneity) {
  const RandomGraphOptions options{
      .ops = 4000, .ccr = 1, .seed = 6, .kinds = {{"gpu", 0.25}, {"cpu", 1.0}}, .heterogeneity = 1};
  const ComputationGraph graph = MakeRandomGraph(GetParam(), options);
  const ComputationGraph plain = MakeRandomGraph(GetParam(), {.ops = 4000, .ccr = 1, .seed = 6});
  double cpu = 0;
  double gpu = 0;
  for (const Op& op : graph.ops()) {
    ASSERT_EQ(op.seconds.by_kind.size(), 2U);
    EXPECT_EQ(op.seconds.by_kind[0].first, "cpu");
    EXPECT_LE(*op.seconds.On("gpu"), 3 * *op.seconds.On("cpu") * 0.25 + 1e-12);
    EXPECT_GE(*op.seconds.On("gpu") * 3, *op.seconds.On("cpu") * 0.25 - 1e-12);
    cpu += *op.seconds.On("cpu");
    gpu += *op.seconds.On("gpu");
  }
  EXPECT_NEAR(gpu / cpu, 0.25, 0.01);
  EXPECT_NEAR(MeanBytes(graph), (cpu + gpu) / 2 / graph.num_ops() * 1e9, 1);
  EXPECT_EQ(Edges(graph), Edges(plain));
}

INSTANTIATE_TEST_SUITE_P(Families, EveryFamily, ::testing::ValuesIn(RandomFamilyNames()),
                         [](const auto& info) { return info.param; });

TEST(Layered, LinksEveryOpToTheNeighbouringLayersByTheStatedDensity) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const ComputationGraph graph = MakeRandomGraph("layered", {.ops = 50, .seed = seed});
    std::vector<std::int64_t> sizes;
    int last = -1;
    for (const Op& op : graph.ops()) {
      ASSERT_GE(*op.layer, last);
      last = *op.layer;
      sizes.resize(static_cast<std::size_t>(last) + 1);
      ++sizes.back();
    }
    const auto layers = static_cast<double>(sizes.size());
    EXPECT_GE(layers, std::ceil(std::sqrt(50.0)));
    EXPECT_LE(layers, std::ceil(std::sqrt(150.0)));
    for (const std::int64_t size : sizes) {
      EXPECT_GE(static_cast<double>(size), std::ceil(50 / layers * 0.25));
      EXPECT_LE(static_cast<double>(size), std::floor(50 / layers * 1.75));
    }
    std::vector<std::int64_t> links(sizes.size());
    for (OpId op = 0; op < graph.num_ops(); ++op) {
      const int layer = *graph.op(op).layer;
      bool child = false;
      for (const OpId next : graph.Successors(op)) {
        const int gap = *graph.op(next).layer - layer;
        ASSERT_GE(gap, 1);
        child |= gap == 1;
        links[static_cast<std::size_t>(layer)] += gap == 1;
      }
      bool parent = false;
      for (const OpId before : graph.Predecessors(op)) parent |= *graph.op(before).layer == layer - 1;
      EXPECT_EQ(child, layer != last);
      EXPECT_EQ(parent, layer != 0);
    }
    for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
      const auto product = static_cast<double>(sizes[i] * sizes[i + 1]);
      const auto larger = static_cast<double>(std::max(sizes[i], sizes[i + 1]));
      EXPECT_EQ(links[i], static_cast<std::int64_t>(product * 0.2 + 0.8 * larger));
    }
  }
}

TEST(ErdosRenyi, LinksEveryPairWithTheSameProbability) {
  constexpr int kOps = 12;
  constexpr int kSeeds = 4000;
  std::vector<double> linked(kOps * kOps);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const ComputationGraph graph = MakeRandomGraph("er", {.ops = kOps, .seed = seed, .degree = 5.5});
    for (const Tensor& tensor : graph.tensors()) {
      for (const OpId consumer : tensor.consumers) {
        linked[static_cast<std::size_t>(tensor.producer * kOps + consumer)] += 1.0 / kSeeds;
      }
    }
  }
  for (int from = 0; from < kOps; ++from) {
    // Half of all pairs; op 0 and others sometimes get one more link, so that no piece lies apart.
    for (int to = from + 1; to < kOps; ++to) {
      EXPECT_NEAR(linked[static_cast<std::size_t>(from * kOps + to)], 0.5, 0.05);
    }
  }
}

TEST(ErdosRenyi, IsCompleteWhereTheDegreeAsksForMoreThanThereIs) {
  EXPECT_EQ(Edges(MakeRandomGraph("er", {.ops = 20, .degree = 100})), 190);
}

TEST(RandomGraph, RefusesWhatItCannotMakeInOneLine) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto refuses = [](const std::string& family, const RandomGraphOptions& options, const std::string& words) {
    EXPECT_THAT([&] { MakeRandomGraph(family, options); }, ThrowsMessage<InvalidInput>(HasSubstr(words)));
  };
  refuses("tree", {}, "'tree' is no random family; there are layered, er, sbm, ws, ba");
  refuses("er", {.ops = 0}, "ops");
  refuses("er", {.ops = -5}, "ops");
  refuses("er", {.ops = 1'000'000'000'000}, "ops");
  refuses("er", {.ccr = -1}, "ccr");
  refuses("er", {.ccr = nan}, "ccr");
  refuses("er", {.degree = -1}, "degree");
  refuses("er", {.degree = nan}, "degree");
  refuses("er", {.ops = 1'000'000, .degree = 1e5}, "degree");
  refuses("er", {.kinds = {{"cpu", 1}, {"cpu", 2}}}, "'cpu' is named twice");
  refuses("er", {.kinds = {{"cpu", 0}}}, "'cpu'");
  refuses("er", {.kinds = {{"", 1}}}, "name");
  refuses("er", {.heterogeneity = 3}, "heterogeneity");
}

}  // namespace
}  // namespace millrace
