// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/environment/graph_features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tests/gflownet/environment/random_environment.h"
#include "tests/reference/plain_problem.h"
#include "tests/reference/plain_row.h"

// The features of groups, edges, devices and the whole, each held against the plainest formula for it.
namespace millrace {
namespace {

using testing::EnvironmentProblem;
using testing::ExpectRow;
using testing::Index;
using testing::kNever;
using testing::PlainProblem;
using testing::PlainRow;
using testing::Squashed;

class PlainFeatures {
 public:
  explicit PlainFeatures(const CostedGraph& costed) : problem_(costed), costed_(costed) {}

  PlainRow<NodeFeature> Node(int group) const {
    using F = NodeFeature;
    double least = kNever, most = 0, devices = 0, onward = 0;
    for (int d = 0; d < costed_.num_devices; ++d) {
      const double seconds = costed_.Seconds(group, d);
      if (std::isinf(seconds)) continue;
      least = std::min(least, seconds);
      most = std::max(most, seconds);
      onward += problem_.Onward(group, d);
      devices += 1;
    }
    const double mean = problem_.Mean(group), up = problem_.Rank(group), down = Down(group), path = Path();
    const Sum in = Transfers(costed_.Predecessors(group)), out = Transfers(costed_.Successors(group));
    double deepest = 0;
    for (int other = 0; other < costed_.num_groups; ++other) deepest = std::max(deepest, Depth(other));
    return {{F::kMeanSeconds, Scaled(mean)},
            {F::kFastest, Share(least, mean, 1)},
            {F::kSlowest, Squashed(Share(most, mean, 1) - 1)},
            {F::kUpwardRank, Share(up, path, 1)},
            {F::kDownwardRank, Share(down, path, 0)},
            {F::kSlack, 1 - Share(up, path, 1) - Share(down, path, 0)},
            {F::kRankSeconds, Scaled(up) / 4},
            {F::kInputs, Scaled(in.all)},
            {F::kOutputs, Scaled(out.all)},
            {F::kLargestInput, Scaled(in.most)},
            {F::kLargestOutput, Scaled(out.most)},
            {F::kNumInputs, Squashed(in.edges)},
            {F::kNumOutputs, Squashed(out.edges)},
            {F::kDeviceShare, devices / costed_.num_devices},
            {F::kTransfersAhead, Share(up - mean - onward / devices, path, 0)},
            {F::kDepth, deepest > 0 ? Depth(group) / deepest : 0}};
  }

  double Edge(const GroupEdge& edge) const { return Scaled(problem_.Transfer(edge.bytes)); }

  PlainRow<DeviceFeature> Device(int device) const {
    using F = DeviceFeature;
    double bytes = 0, edges = 0;
    for (const GroupEdge& edge : costed_.predecessors) bytes += edge.bytes, edges += 1;
    const double mean_bytes = edges > 0 ? bytes / edges : 0;
    double runs = 0, relative = 0, fastest = 0;
    for (int group = 0; group < costed_.num_groups; ++group) {
      const double seconds = costed_.Seconds(group, device);
      if (std::isinf(seconds)) continue;
      runs += 1;
      relative += Share(seconds, problem_.Mean(group), 1);
      fastest += seconds <= costed_.fastest_seconds[Index(group)] ? 1 : 0;
    }
    double others = 0, out = 0, in = 0, latency = 0, free = 0;
    for (int d = 0; d < costed_.num_devices; ++d) {
      if (d == device) continue;
      others += 1;
      out += costed_.TransferSeconds(mean_bytes, device, d);
      in += costed_.TransferSeconds(mean_bytes, d, device);
      latency += costed_.TransferSeconds(0, device, d);
      free += costed_.topology.free[costed_.topology.Pair(device, d)] != 0 ? 1 : 0;
    }
    const double links = std::max(1.0, others);
    const double units = costed_.topology.num_units;
    return {{F::kSeconds, Squashed(runs > 0 ? relative / runs - 1 : 0)},
            {F::kRunnable, runs / costed_.num_groups},
            {F::kFastest, fastest / costed_.num_groups},
            {F::kUnits, static_cast<double>(problem_.UnitsOf(device).size()) / units},
            {F::kTransferOut, Scaled(out / links)},
            {F::kTransferIn, Scaled(in / links)},
            {F::kLatency, Scaled(latency / links)},
            {F::kFreeTransfer, others > 0 ? free / others : 1}};
  }

  PlainRow<GlobalFeature> Whole() const {
    using F = GlobalFeature;
    const double groups = costed_.num_groups, devices = costed_.num_devices;
    double work = 0, likeness = 0, transfers = 0, edges = 0;
    for (int group = 0; group < costed_.num_groups; ++group) {
      work += problem_.Mean(group);
      likeness += Share(costed_.fastest_seconds[Index(group)], problem_.Mean(group), 1);
      for (const GroupEdge& edge : costed_.Successors(group)) transfers += problem_.Transfer(edge.bytes), edges += 1;
    }
    return {{F::kGroups, std::log(groups) / 5},
            {F::kDevices, std::log(devices) / 2},
            {F::kTransfer, edges > 0 ? Scaled(transfers / edges) : 0},
            {F::kParallelism, std::log(1 + (Path() > 0 ? work / Path() : groups)) / 3},
            {F::kCrowding, Squashed(Share(work / devices, Path(), groups))},
            {F::kFastest, likeness / groups},
            {F::kEdges, Squashed(edges / groups)},
            {F::kUnits, costed_.topology.num_units / devices}};
  }

 private:
  struct Sum {
    double all = 0, most = 0, edges = 0;
  };
  Sum Transfers(std::span<const GroupEdge> edges) const {
    Sum sum;
    for (const GroupEdge& edge : edges) {
      sum.all += problem_.Transfer(edge.bytes);
      sum.most = std::max(sum.most, problem_.Transfer(edge.bytes));
      sum.edges += 1;
    }
    return sum;
  }

  // The longest way from the start to the group.
  double Down(int group) const {
    double longest = 0;
    for (const GroupEdge& edge : costed_.Predecessors(group))
      longest = std::max(longest, Down(edge.group) + problem_.Mean(edge.group) + problem_.Transfer(edge.bytes));
    return longest;
  }
  double Path() const {
    double longest = 0;
    for (int group = 0; group < costed_.num_groups; ++group) longest = std::max(longest, problem_.Rank(group));
    return longest;
  }
  double Depth(int group) const {
    double depth = 0;
    for (const GroupEdge& edge : costed_.Predecessors(group)) depth = std::max(depth, Depth(edge.group) + 1);
    return depth;
  }

  double Scaled(double seconds) const { return Squashed(seconds / problem_.scale); }
  static double Share(double part, double whole, double otherwise) { return whole > 0 ? part / whole : otherwise; }

  PlainProblem problem_;
  const CostedGraph& costed_;
};

TEST(GraphFeatures, AreWhatThePlainFormulasSay) {
  for (int seed = 0; seed < 100; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    testing::RandomProblemOptions options;
    options.most_ops = 10;
    options.most_devices = 4;
    const EnvironmentProblem made(random, options);
    const CostedGraph& costed = made.costed;
    const PlainFeatures plain(costed);
    const GraphFeatures features = MakeGraphFeatures(made.environment);
    ASSERT_EQ(features.nodes.size(), Index(costed.num_groups * kNodeFeatures));
    ASSERT_EQ(features.devices.size(), Index(costed.num_devices * kDeviceFeatures));
    for (int group = 0; group < costed.num_groups; ++group) {
      const std::string where = "seed " + std::to_string(seed) + ", group " + std::to_string(group);
      ExpectRow(features.nodes, Index(group), plain.Node(group), 1e-5, where);
      const auto expect_edges = [&](std::span<const GroupEdge> edges, const std::vector<std::int32_t>& offsets,
                                    const std::vector<std::int32_t>& ends, const std::vector<float>& of_edges) {
        const auto first = Index(offsets[Index(group)]);
        ASSERT_EQ(Index(offsets[Index(group) + 1]), first + edges.size());
        for (std::size_t i = 0; i < edges.size(); ++i) {
          EXPECT_EQ(ends[first + i], edges[i].group);
          EXPECT_NEAR(of_edges[first + i], plain.Edge(edges[i]), 1e-5 * (1 + plain.Edge(edges[i]))) << where;
        }
      };
      expect_edges(costed.Predecessors(group), features.predecessor_offsets, features.predecessors,
                   features.predecessor_features);
      expect_edges(costed.Successors(group), features.successor_offsets, features.successors,
                   features.successor_features);
    }
    const std::string where = "seed " + std::to_string(seed);
    for (int device = 0; device < costed.num_devices; ++device)
      ExpectRow(features.devices, Index(device), plain.Device(device), 1e-5,
                where + ", device " + std::to_string(device));
    ExpectRow<GlobalFeature>(features.global, plain.Whole(), 1e-5, where);
  }
}

}  // namespace
}  // namespace millrace
