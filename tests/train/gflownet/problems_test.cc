// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/gflownet/problems.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "millrace/errors/errors.h"
#include "millrace/workloads/random_graph.h"

namespace millrace {
namespace {

ComputationGraph RealGraph() {
  RandomGraphOptions options;
  options.ops = 200;
  options.ccr = 1;
  options.seed = 9;
  return MakeRandomGraph("layered", options);
}

// Edges by name: ops of a piece keep theirs.
std::set<std::pair<std::string, std::string>> Edges(const ComputationGraph& graph) {
  std::set<std::pair<std::string, std::string>> edges;
  for (OpId id = 0; id < graph.num_ops(); ++id) {
    for (const OpId next : graph.Successors(id)) edges.emplace(graph.op(id).name, graph.op(next).name);
  }
  return edges;
}

TEST(Problems, APieceHasConnectedOpsAndExactlyTheEdgesBetweenThem) {
  const ComputationGraph whole = RealGraph();
  const auto all_edges = Edges(whole);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const int ops = 25 + static_cast<int>(random.Below(51));
    const ComputationGraph piece = DrawPiece(whole, ops, 2, {}, 0, random);
    ASSERT_EQ(piece.num_ops(), ops);
    std::set<std::string> names;
    for (const Op& op : piece.ops()) names.insert(op.name);
    ASSERT_EQ(names.size(), static_cast<std::size_t>(ops));
    std::set<std::pair<std::string, std::string>> induced;
    for (const auto& edge : all_edges) {
      if (names.contains(edge.first) && names.contains(edge.second)) induced.insert(edge);
    }
    EXPECT_EQ(Edges(piece), induced);

    std::vector<bool> reached(static_cast<std::size_t>(ops), false);
    std::vector<OpId> open = {0};
    reached[0] = true;
    while (!open.empty()) {
      const OpId id = open.back();
      open.pop_back();
      for (const auto& neighbours : {piece.Predecessors(id), piece.Successors(id)}) {
        for (const OpId other : neighbours) {
          if (reached[static_cast<std::size_t>(other)]) continue;
          reached[static_cast<std::size_t>(other)] = true;
          open.push_back(other);
        }
      }
    }
    EXPECT_THAT(reached, ::testing::Each(true));
  }
}

TEST(Problems, APieceIsScaledToTheCcrAndToHalfASecondAnOp) {
  Random random(3);
  const ComputationGraph piece = DrawPiece(RealGraph(), 50, 4, {}, 0, random);
  double seconds = 0, bytes = 0;
  for (const Op& op : piece.ops()) seconds += op.seconds.everywhere.value() / 50;
  for (const Tensor& tensor : piece.tensors()) bytes += tensor.bytes / static_cast<double>(piece.tensors().size());
  EXPECT_NEAR(seconds, 0.5, 1e-9);
  EXPECT_NEAR(bytes, 4 * 0.5 * 1e9, 1);
}

TEST(Problems, AGraphSmallerThanThePieceIsTakenWhole) {
  Random random(4);
  RandomGraphOptions options;
  options.ops = 10;
  EXPECT_EQ(DrawPiece(MakeRandomGraph("er", options), 25, 1, {}, 0, random).num_ops(), 10);
}

TEST(Problems, AreAsTheSettingsSayAndTheSameForTheSameRandom) {
  ProblemSettings settings{.fewest_ops = 10, .most_ops = 30, .fewest_devices = 2, .most_devices = 5};
  settings.gang_share = 0.5;
  settings.unlike_share = 0.5;
  const ProblemSource source(settings);
  std::set<int> sizes;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random one(seed), two(seed);
    const auto problem = source.Draw(one);
    const auto again = source.Draw(two);
    EXPECT_GE(problem->costed().num_groups, 10);
    EXPECT_LE(problem->costed().num_groups, 30);
    EXPECT_GE(problem->costed().num_devices, 1);
    EXPECT_LE(problem->costed().num_devices, 6);
    EXPECT_EQ(problem->environment().reference_makespan(), again->environment().reference_makespan());
    sizes.insert(problem->costed().num_groups);
  }
  EXPECT_GT(sizes.size(), 5u);
}

TEST(Problems, AreTaskGraphsWhereTheFamiliesSaySo) {
  ProblemSettings settings{.families = {{"lu", 1}}, .fewest_ops = 50, .most_ops = 60};
  const ProblemSource source(settings);
  Random random(1);
  for (int i = 0; i < 10; ++i) {
    const auto problem = source.Draw(90, random);
    EXPECT_THAT(problem->costed().num_groups, ::testing::AnyOf(55, 91));  // LU by 5 x 5 or 6 x 6 tiles
  }
}

TEST(Problems, RealGraphsGivePiecesOfTheSizesAsked) {
  ProblemSettings settings;
  settings.smallest_piece = 25;
  settings.largest_piece = 75;
  std::vector<ComputationGraph> graphs;
  graphs.push_back(RealGraph());
  const ProblemSource source(settings, std::move(graphs));
  Random random(1);
  for (int i = 0; i < 30; ++i) {
    const auto problem = source.Draw(random);
    EXPECT_GE(problem->costed().num_groups, 25);
    EXPECT_LE(problem->costed().num_groups, 75);
  }
}

TEST(Problems, AGraphWithoutOpsIsRefused) {
  std::vector<ComputationGraph> graphs;
  graphs.emplace_back(GraphData{});
  EXPECT_THROW(ProblemSource({}, std::move(graphs)), InvalidInput);
}

}  // namespace
}  // namespace millrace
