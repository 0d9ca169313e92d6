// SPDX-License-Identifier: Apache-2.0
#include "millrace/go/features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "tests/go/go_case.h"
#include "tests/go/plain_go_problem.h"
#include "tests/reference/plain_row.h"

// The features of ops, edges, devices and the whole, each held against the plainest formula for it.
namespace millrace::testing {
namespace {

struct PlainGoFeatures : PlainGoProblem {
  using PlainGoProblem::PlainGoProblem;

  PlainRow<GoOpFeature> OfOp(int row) const {
    using F = GoOpFeature;
    const OpId op = OpOf(row);
    double most = 0, deepest = 0, least_memory = kNever, output_bytes = 0;
    for (int d = 0; d < costed.num_devices; ++d) {
      if (!std::isinf(costed.Seconds(op, d))) most = std::max(most, costed.Seconds(op, d));
      least_memory = std::min(least_memory, Memory(d));
    }
    for (OpId other = 0; other < rows(); ++other) deepest = std::max(deepest, Depth(other));
    for (const Tensor& tensor : graph.tensors()) output_bytes += tensor.producer == op ? tensor.bytes : 0;
    const double mean = Mean(op), up = Share(Rank(op), Path(), 1), down = Share(Down(op), Path(), 0);
    const Sum in = Transfers(costed.Predecessors(op)), out = Transfers(costed.Successors(op));
    const FusionRole role = FusionRoleOf(graph.op(op).type);
    return {{F::kMeanSeconds, Scaled(mean)},
            {F::kLogMeanSeconds, Squashed(std::log(mean / scale + 1e-4))},
            {F::kFastest, Share(costed.fastest_seconds[Index(op)], mean, 1)},
            {F::kSlowest, Squashed(Share(most, mean, 1) - 1)},
            {F::kUpwardRank, up},
            {F::kDownwardRank, down},
            {F::kSlack, 1 - up - down},
            {F::kWorkBefore, WorkBefore(row)},
            {F::kProgress, Progress(row)},
            {F::kHasLayer, graph.op(op).layer ? 1 : 0},
            {F::kDepth, Share(Depth(op), deepest, 0)},
            {F::kInputs, Scaled(in.all)},
            {F::kOutputs, Scaled(out.all)},
            {F::kLargestInput, Scaled(in.most)},
            {F::kLargestOutput, Scaled(out.most)},
            {F::kNumInputs, Squashed(in.edges)},
            {F::kNumOutputs, Squashed(out.edges)},
            {F::kIsAnchor, role == FusionRole::kAnchor ? 1 : 0},
            {F::kIsElementwise, role == FusionRole::kElementwise ? 1 : 0},
            {F::kIsFusible, Fusible(op) ? 1 : 0},
            {F::kIsColocated, Colocated(op) > 1 ? 1 : 0},
            {F::kColocated, Squashed(std::log(Colocated(op)))},
            {F::kWeightBytes, Fullness(graph.op(op).weight_bytes, least_memory)},
            {F::kOutputBytes, Fullness(output_bytes, least_memory)}};
  }

  PlainRow<GoDeviceFeature> OfDevice(int device) const {
    using F = GoDeviceFeature;
    double bytes = 0, edges = 0;
    for (const GroupEdge& edge : costed.predecessors) bytes += edge.bytes, edges += 1;
    const double mean_bytes = edges > 0 ? bytes / edges : 0;
    double runs = 0, relative = 0, fastest = 0;
    for (OpId op = 0; op < rows(); ++op) {
      const double seconds = costed.Seconds(op, device);
      if (std::isinf(seconds)) continue;
      runs += 1;
      relative += Share(seconds, Mean(op), 1);
      fastest += seconds <= costed.fastest_seconds[Index(op)] ? 1 : 0;
    }
    double others = 0, out = 0, in = 0, latency = 0, free = 0;
    for (int d = 0; d < costed.num_devices; ++d) {
      if (d == device) continue;
      others += 1;
      out += costed.TransferSeconds(mean_bytes, device, d);
      in += costed.TransferSeconds(mean_bytes, d, device);
      latency += costed.TransferSeconds(0, device, d);
      free += costed.topology.free[costed.topology.Pair(device, d)] != 0 ? 1 : 0;
    }
    const double links = std::max(1.0, others), units = costed.topology.num_units;
    return {{F::kFraction, Fraction(device)},
            {F::kSine, std::sin(2 * std::numbers::pi * Fraction(device))},
            {F::kCosine, std::cos(2 * std::numbers::pi * Fraction(device))},
            {F::kSeconds, Squashed(runs > 0 ? relative / runs - 1 : 0)},
            {F::kRunnable, runs / rows()},
            {F::kFastest, fastest / rows()},
            {F::kUnits, static_cast<double>(UnitsOf(device).size()) / units},
            {F::kTransferOut, Scaled(out / links)},
            {F::kTransferIn, Scaled(in / links)},
            {F::kLatency, Scaled(latency / links)},
            {F::kFreeTransfer, others > 0 ? free / others : 1},
            {F::kAllWeights, Fullness(AllWeights(), Memory(device))}};
  }

  PlainRow<GoGlobalFeature> OfWhole() const {
    using F = GoGlobalFeature;
    const double ops = rows(), devices = costed.num_devices;
    double work = 0, likeness = 0, transfers = 0, edges = 0, memory = 0;
    for (OpId op = 0; op < rows(); ++op) {
      work += Mean(op);
      likeness += Share(costed.fastest_seconds[Index(op)], Mean(op), 1);
      for (const GroupEdge& edge : costed.Successors(op)) transfers += Transfer(edge.bytes), edges += 1;
    }
    std::map<int, double> memories;
    for (int d = 0; d < costed.num_devices; ++d) memories[costed.topology.memory_of[Index(d)]] = Memory(d);
    for (const auto& [number, bytes] : memories) memory += bytes;
    return {{F::kOps, std::log(ops) / 5},
            {F::kDevices, std::log(devices) / 2},
            {F::kTransfer, edges > 0 ? Scaled(transfers / edges) : 0},
            {F::kParallelism, std::log(1 + Share(work, Path(), ops)) / 3},
            {F::kCrowding, Squashed(Share(work / devices, Path(), ops))},
            {F::kFastest, likeness / ops},
            {F::kEdges, Squashed(edges / ops)},
            {F::kAllWeights, Fullness(AllWeights(), memory)}};
  }

 private:
  struct Sum {
    double all = 0, most = 0, edges = 0;
  };
  Sum Transfers(std::span<const GroupEdge> edges) const {
    Sum sum;
    for (const GroupEdge& edge : edges) {
      sum.all += Transfer(edge.bytes);
      sum.most = std::max(sum.most, Transfer(edge.bytes));
      sum.edges += 1;
    }
    return sum;
  }

  double AllWeights() const {
    double bytes = 0;
    for (const Op& op : graph.ops()) bytes += op.weight_bytes;
    return bytes;
  }
};

TEST(GoFeatures, AreWhatThePlainFormulasSay) {
  for (int seed = 0; seed < 150; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const auto made = OddCase(random, kMostPlainOps);
    const PlainGoFeatures plain(made->problem);
    const GoFeatures features = MakeGoFeatures(made->problem);
    const std::string where = "seed " + std::to_string(seed);
    ASSERT_EQ(features.ops.size(), Index(plain.rows() * kGoOpFeatures));
    ASSERT_EQ(features.devices.size(), Index(made->problem.num_devices() * kGoDeviceFeatures));
    for (int row = 0; row < plain.rows(); ++row)
      ExpectRow(features.ops, Index(row), plain.OfOp(row), 1e-5, where + ", row " + std::to_string(row));
    for (int device = 0; device < made->problem.num_devices(); ++device)
      ExpectRow(features.devices, Index(device), plain.OfDevice(device), 1e-5,
                where + ", device " + std::to_string(device));
    ExpectRow<GoGlobalFeature>(features.global, plain.OfWhole(), 1e-5, where);
  }
}

TEST(GoFeatures, OfEdgesAreTheirMeanTransfers) {
  for (int seed = 0; seed < 100; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const auto made = OddCase(random, kMostPlainOps);
    const PlainGoProblem plain(made->problem);
    const GoFeatures features = MakeGoFeatures(made->problem);
    const auto expect = [&](int row, std::span<const GroupEdge> edges, const std::vector<std::int32_t>& offsets,
                            const std::vector<std::int32_t>& ends, const std::vector<float>& of_edges) {
      std::map<std::int32_t, double> by_row;
      for (const GroupEdge& edge : edges)
        by_row[made->problem.RowOf(edge.group)] = plain.Scaled(plain.Transfer(edge.bytes));
      auto at = Index(offsets[Index(row)]);
      ASSERT_EQ(Index(offsets[Index(row) + 1]), at + by_row.size());
      for (const auto& [end, transfer] : by_row) {
        EXPECT_EQ(ends[at], end);
        EXPECT_NEAR(of_edges[at++], transfer, 1e-5 * (1 + transfer));
      }
    };
    for (int row = 0; row < plain.rows(); ++row) {
      const OpId op = plain.OpOf(row);
      expect(row, plain.costed.Predecessors(op), features.predecessor_offsets, features.predecessors,
             features.predecessor_features);
      expect(row, plain.costed.Successors(op), features.successor_offsets, features.successors,
             features.successor_features);
    }
  }
}

}  // namespace
}  // namespace millrace::testing
