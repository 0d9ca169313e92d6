// SPDX-License-Identifier: Apache-2.0
#include "millrace/go/features.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "millrace/graph/index.h"
#include "millrace/network/device_links.h"
#include "millrace/network/squash.h"
#include "millrace/plan/fusion_table.h"

namespace millrace {
namespace {

double Ratio(double part, double whole, double otherwise) { return whole > 0 ? part / whole : otherwise; }

// Bytes / capacity, squashed; 0 where the memory has no limit, and a large number where it has no room at all.
float Fullness(double bytes, double capacity) {
  constexpr double kMost = 1e6;
  if (bytes <= 0 || capacity == std::numeric_limits<double>::infinity()) return 0;
  return SquashCutOff(capacity > 0 ? std::min(kMost, bytes / capacity) : kMost);
}

// The transfers of all inputs or all outputs of an op.
struct Traffic {
  double sum = 0;
  double most = 0;
};

Traffic TrafficOf(const GoProblem& problem, std::span<const GroupEdge> edges) {
  Traffic traffic;
  for (const GroupEdge& edge : edges) {
    const double seconds = problem.mean_transfer().Seconds(edge.bytes);
    traffic.sum += seconds;
    traffic.most = std::max(traffic.most, seconds);
  }
  return traffic;
}

// By op: the number of edges on the longest path to it.
std::vector<int> Depths(const CostedGraph& costed) {
  std::vector<int> depths(Index(costed.num_groups), 0);
  for (const std::int32_t op : costed.topological_order) {
    for (const GroupEdge& edge : costed.Predecessors(op))
      depths[Index(op)] = std::max(depths[Index(op)], depths[Index(edge.group)] + 1);
  }
  return depths;
}

double OutputBytes(const ComputationGraph& graph, OpId op) {
  double bytes = 0;
  for (const TensorId tensor : graph.Outputs(op)) bytes += graph.tensor(tensor).bytes;
  return bytes;
}

void DescribeOps(const GoProblem& problem, GoFeatures& features) {
  const CostedGraph& costed = problem.costed();
  const ComputationGraph& graph = problem.graph();
  const std::vector<int> depths = Depths(costed);
  const double deepest = *std::max_element(depths.begin(), depths.end());
  const std::vector<double>& memories = costed.topology.memory_bytes;
  const double least_memory = *std::min_element(memories.begin(), memories.end());
  const double path = problem.critical_path();
  for (std::int32_t row = 0; row < problem.num_rows(); ++row) {
    const OpId op = problem.order()[Index(row)];
    const double mean = problem.mean_seconds()[Index(op)];
    double slowest = 0;
    for (int d = 0; d < problem.num_devices(); ++d) {
      if (std::isfinite(costed.Seconds(op, d))) slowest = std::max(slowest, costed.Seconds(op, d));
    }
    const Traffic in = TrafficOf(problem, costed.Predecessors(op));
    const Traffic out = TrafficOf(problem, costed.Successors(op));
    const FusionRole role = FusionRoleOf(graph.op(op).type);
    const std::size_t colocated = problem.RowsOf(problem.ColocationOf(row)).size();
    const double relative = mean / problem.scale();
    const auto f = RowAt<GoOpFeature>(features.ops, Index(row));
    f[GoOpFeature::kMeanSeconds] = SquashCutOff(relative);
    f[GoOpFeature::kLogMeanSeconds] = SquashCutOff(std::log(relative + 1e-4));
    f[GoOpFeature::kFastest] = static_cast<float>(Ratio(costed.fastest_seconds[Index(op)], mean, 1));
    f[GoOpFeature::kSlowest] = SquashCutOff(Ratio(slowest, mean, 1) - 1);
    f[GoOpFeature::kUpwardRank] = static_cast<float>(Ratio(problem.upward_ranks()[Index(op)], path, 1));
    f[GoOpFeature::kDownwardRank] = static_cast<float>(Ratio(problem.downward_ranks()[Index(op)], path, 0));
    f[GoOpFeature::kSlack] = 1.0f - f[GoOpFeature::kUpwardRank] - f[GoOpFeature::kDownwardRank];
    f[GoOpFeature::kWorkBefore] = static_cast<float>(problem.work_before()[Index(row)]);
    f[GoOpFeature::kProgress] = static_cast<float>(problem.progress()[Index(row)]);
    f[GoOpFeature::kHasLayer] = graph.op(op).layer ? 1.0f : 0.0f;
    f[GoOpFeature::kDepth] = static_cast<float>(Ratio(depths[Index(op)], deepest, 0));
    f[GoOpFeature::kInputs] = SquashCutOff(in.sum / problem.scale());
    f[GoOpFeature::kOutputs] = SquashCutOff(out.sum / problem.scale());
    f[GoOpFeature::kLargestInput] = SquashCutOff(in.most / problem.scale());
    f[GoOpFeature::kLargestOutput] = SquashCutOff(out.most / problem.scale());
    f[GoOpFeature::kNumInputs] = Squash(static_cast<float>(costed.Predecessors(op).size()));
    f[GoOpFeature::kNumOutputs] = Squash(static_cast<float>(costed.Successors(op).size()));
    f[GoOpFeature::kIsAnchor] = role == FusionRole::kAnchor ? 1.0f : 0.0f;
    f[GoOpFeature::kIsElementwise] = role == FusionRole::kElementwise ? 1.0f : 0.0f;
    f[GoOpFeature::kIsFusible] = static_cast<float>(problem.fusible()[Index(row)]);
    f[GoOpFeature::kIsColocated] = colocated > 1 ? 1.0f : 0.0f;
    f[GoOpFeature::kColocated] = SquashCutOff(std::log(static_cast<double>(colocated)));
    f[GoOpFeature::kWeightBytes] = Fullness(graph.op(op).weight_bytes, least_memory);
    f[GoOpFeature::kOutputBytes] = Fullness(OutputBytes(graph, op), least_memory);
  }
}

void DescribeDevices(const GoProblem& problem, GoFeatures& features) {
  const CostedGraph& costed = problem.costed();
  const Topology& topology = costed.topology;
  const double mean_bytes = MeanEdgeBytes(costed);
  const double weights = std::accumulate(costed.weight_bytes.begin(), costed.weight_bytes.end(), 0.0);
  for (int d = 0; d < costed.num_devices; ++d) {
    double relative = 0;
    int runs = 0, fastest = 0;
    for (OpId op = 0; op < costed.num_groups; ++op) {
      const double seconds = costed.Seconds(op, d);
      if (!std::isfinite(seconds)) continue;
      ++runs;
      relative += Ratio(seconds, problem.mean_seconds()[Index(op)], 1);
      fastest += seconds <= costed.fastest_seconds[Index(op)] ? 1 : 0;
    }
    const DeviceLinks links = LinksOf(costed, d, mean_bytes);
    const double per_other = 1.0 / (problem.scale() * std::max(1, links.others));
    const double fraction = DeviceFraction(d, costed.num_devices);
    const auto ops = static_cast<float>(costed.num_groups);
    const auto f = RowAt<GoDeviceFeature>(features.devices, Index(d));
    f[GoDeviceFeature::kFraction] = static_cast<float>(fraction);
    f[GoDeviceFeature::kSine] = static_cast<float>(std::sin(2 * std::numbers::pi * fraction));
    f[GoDeviceFeature::kCosine] = static_cast<float>(std::cos(2 * std::numbers::pi * fraction));
    f[GoDeviceFeature::kSeconds] = SquashCutOff(runs > 0 ? relative / runs - 1.0 : 0.0);
    f[GoDeviceFeature::kRunnable] = static_cast<float>(runs) / ops;
    f[GoDeviceFeature::kFastest] = static_cast<float>(fastest) / ops;
    f[GoDeviceFeature::kUnits] = static_cast<float>(topology.UnitsOf(d)) / static_cast<float>(topology.num_units);
    f[GoDeviceFeature::kTransferOut] = SquashCutOff(links.out * per_other);
    f[GoDeviceFeature::kTransferIn] = SquashCutOff(links.in * per_other);
    f[GoDeviceFeature::kLatency] = SquashCutOff(links.latency * per_other);
    f[GoDeviceFeature::kFreeTransfer] = static_cast<float>(links.FreeShare());
    f[GoDeviceFeature::kAllWeights] = Fullness(weights, topology.memory_bytes[Index(topology.memory_of[Index(d)])]);
  }
}

void DescribeWhole(const GoProblem& problem, GoFeatures& features) {
  const CostedGraph& costed = problem.costed();
  const double ops = costed.num_groups;
  const double edges = static_cast<double>(costed.predecessors.size());
  double work = 0, transfers = 0, likeness = 0;
  for (OpId op = 0; op < costed.num_groups; ++op) {
    work += problem.mean_seconds()[Index(op)];
    likeness += Ratio(costed.fastest_seconds[Index(op)], problem.mean_seconds()[Index(op)], 1);
  }
  for (const GroupEdge& edge : costed.predecessors) transfers += problem.mean_transfer().Seconds(edge.bytes);
  const std::vector<double>& memories = costed.topology.memory_bytes;
  const double weights = std::accumulate(costed.weight_bytes.begin(), costed.weight_bytes.end(), 0.0);
  const double path = problem.critical_path();
  const FeatureRow<GoGlobalFeature> f(features.global.data());
  f[GoGlobalFeature::kOps] = static_cast<float>(std::log(ops) / 5);
  f[GoGlobalFeature::kDevices] = static_cast<float>(std::log(static_cast<double>(costed.num_devices)) / 2);
  f[GoGlobalFeature::kTransfer] = SquashCutOff(edges > 0 ? transfers / edges / problem.scale() : 0.0);
  f[GoGlobalFeature::kParallelism] = static_cast<float>(std::log1p(Ratio(work, path, ops)) / 3);
  f[GoGlobalFeature::kCrowding] = SquashCutOff(Ratio(work / costed.num_devices, path, ops));
  f[GoGlobalFeature::kFastest] = static_cast<float>(likeness / ops);
  f[GoGlobalFeature::kEdges] = SquashCutOff(edges / ops);
  f[GoGlobalFeature::kAllWeights] = Fullness(weights, std::accumulate(memories.begin(), memories.end(), 0.0));
}

// Adds the edges of every row in CSR form, ends ascending, and the mean transfer of each.
template <typename EdgesOf>
void AddEdges(const GoProblem& problem, EdgesOf edges_of, std::vector<std::int32_t>& offsets,
              std::vector<std::int32_t>& ends, std::vector<float>& features) {
  offsets.push_back(0);
  std::vector<std::pair<std::int32_t, double>> row_edges;
  for (const OpId op : problem.order()) {
    row_edges.clear();
    for (const GroupEdge& edge : edges_of(op)) row_edges.push_back({problem.RowOf(edge.group), edge.bytes});
    std::sort(row_edges.begin(), row_edges.end());
    for (const auto& [row, bytes] : row_edges) {
      ends.push_back(row);
      features.push_back(SquashCutOff(problem.mean_transfer().Seconds(bytes) / problem.scale()));
    }
    offsets.push_back(static_cast<std::int32_t>(ends.size()));
  }
}

}  // namespace

GoFeatures MakeGoFeatures(const GoProblem& problem) {
  const CostedGraph& costed = problem.costed();
  GoFeatures features;
  features.num_rows = problem.num_rows();
  features.num_devices = problem.num_devices();
  features.ops.resize(Index(features.num_rows) * kGoOpFeatures);
  features.devices.resize(Index(features.num_devices) * kGoDeviceFeatures);
  DescribeOps(problem, features);
  DescribeDevices(problem, features);
  DescribeWhole(problem, features);
  AddEdges(
      problem, [&costed](OpId op) { return costed.Predecessors(op); }, features.predecessor_offsets,
      features.predecessors, features.predecessor_features);
  AddEdges(
      problem, [&costed](OpId op) { return costed.Successors(op); }, features.successor_offsets, features.successors,
      features.successor_features);
  return features;
}

}  // namespace millrace
