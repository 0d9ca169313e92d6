// SPDX-License-Identifier: Apache-2.0
#include "millrace/env/one_shot_features.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "millrace/env/device_links.h"
#include "millrace/env/squash.h"
#include "millrace/plan/fusion_table.h"

namespace millrace {
namespace {

std::size_t At(std::int32_t index) { return static_cast<std::size_t>(index); }

double Ratio(double part, double whole, double otherwise) { return whole > 0 ? part / whole : otherwise; }

float Squashed(double x) {
  constexpr double kMost = 1e12;  // beyond it a float's square root, or the float itself, would be no use
  return Squash(static_cast<float>(std::clamp(x, -kMost, kMost)));
}

// Bytes against a memory; 0 where it has no limit, and a lot where it has no room at all.
float Fullness(double bytes, double capacity) {
  constexpr double kMost = 1e6;
  if (bytes <= 0 || capacity == std::numeric_limits<double>::infinity()) return 0;
  return Squashed(capacity > 0 ? std::min(kMost, bytes / capacity) : kMost);
}

// Transfers of one end of an op.
struct Traffic {
  double sum = 0;
  double most = 0;
};

Traffic TrafficOf(const OneShotProblem& problem, std::span<const GroupEdge> edges) {
  Traffic traffic;
  for (const GroupEdge& edge : edges) {
    const double seconds = problem.mean_transfer().Seconds(edge.bytes);
    traffic.sum += seconds;
    traffic.most = std::max(traffic.most, seconds);
  }
  return traffic;
}

// By op: the number of ops on the longest path to it.
std::vector<int> Depths(const CostedGraph& costed) {
  std::vector<int> depths(At(costed.num_groups), 0);
  for (const std::int32_t op : costed.topological_order) {
    for (const GroupEdge& edge : costed.Predecessors(op))
      depths[At(op)] = std::max(depths[At(op)], depths[At(edge.group)] + 1);
  }
  return depths;
}

double OutputBytes(const ComputationGraph& graph, OpId op) {
  double bytes = 0;
  for (const TensorId tensor : graph.Outputs(op)) bytes += graph.tensor(tensor).bytes;
  return bytes;
}

void DescribeOps(const OneShotProblem& problem, OneShotFeatures& features) {
  const CostedGraph& costed = problem.costed();
  const ComputationGraph& graph = problem.graph();
  const std::vector<int> depths = Depths(costed);
  const double deepest = *std::max_element(depths.begin(), depths.end());
  const std::vector<double>& memories = costed.topology.memory_bytes;
  const double least_memory = *std::min_element(memories.begin(), memories.end());
  const double path = problem.critical_path();
  for (std::int32_t row = 0; row < problem.num_rows(); ++row) {
    const OpId op = problem.order()[At(row)];
    const double mean = problem.mean_seconds()[At(op)];
    double slowest = 0;
    for (int d = 0; d < problem.num_devices(); ++d) {
      if (std::isfinite(costed.Seconds(op, d))) slowest = std::max(slowest, costed.Seconds(op, d));
    }
    const Traffic in = TrafficOf(problem, costed.Predecessors(op));
    const Traffic out = TrafficOf(problem, costed.Successors(op));
    const FusionRole role = FusionRoleOf(graph.op(op).type);
    const std::size_t tied = problem.RowsOf(problem.TieOf(row)).size();
    const double relative = mean / problem.scale();
    float* const f = features.ops.data() + At(row) * kOneShotOpFeatures;
    f[0] = Squashed(relative);
    f[1] = Squashed(std::log(relative + 1e-4));
    f[2] = static_cast<float>(Ratio(costed.fastest_seconds[At(op)], mean, 1));
    f[3] = Squashed(Ratio(slowest, mean, 1) - 1);
    f[4] = static_cast<float>(Ratio(problem.upward_ranks()[At(op)], path, 1));
    f[5] = static_cast<float>(Ratio(problem.downward_ranks()[At(op)], path, 0));
    f[6] = 1.0f - f[4] - f[5];
    f[7] = static_cast<float>(problem.work_before()[At(row)]);
    f[8] = static_cast<float>(problem.progress()[At(row)]);
    f[9] = graph.op(op).layer ? 1.0f : 0.0f;
    f[10] = static_cast<float>(Ratio(depths[At(op)], deepest, 0));
    f[11] = Squashed(in.sum / problem.scale());
    f[12] = Squashed(out.sum / problem.scale());
    f[13] = Squashed(in.most / problem.scale());
    f[14] = Squashed(out.most / problem.scale());
    f[15] = Squash(static_cast<float>(costed.Predecessors(op).size()));
    f[16] = Squash(static_cast<float>(costed.Successors(op).size()));
    f[17] = role == FusionRole::kAnchor ? 1.0f : 0.0f;
    f[18] = role == FusionRole::kElementwise ? 1.0f : 0.0f;
    f[19] = static_cast<float>(problem.fusible()[At(row)]);
    f[20] = tied > 1 ? 1.0f : 0.0f;
    f[21] = Squashed(std::log(static_cast<double>(tied)));
    f[22] = Fullness(graph.op(op).weight_bytes, least_memory);
    f[23] = Fullness(OutputBytes(graph, op), least_memory);
  }
}

void DescribeDevices(const OneShotProblem& problem, OneShotFeatures& features) {
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
      relative += Ratio(seconds, problem.mean_seconds()[At(op)], 1);
      fastest += seconds <= costed.fastest_seconds[At(op)] ? 1 : 0;
    }
    const DeviceLinks links = LinksOf(costed, d, mean_bytes);
    const double per_other = 1.0 / (problem.scale() * std::max(1, links.others));
    const double fraction = DeviceFraction(d, costed.num_devices);
    const auto ops = static_cast<float>(costed.num_groups);
    float* const f = features.devices.data() + At(d) * kOneShotDeviceFeatures;
    f[0] = static_cast<float>(fraction);
    f[1] = static_cast<float>(std::sin(2 * std::numbers::pi * fraction));
    f[2] = static_cast<float>(std::cos(2 * std::numbers::pi * fraction));
    f[3] = Squashed(runs > 0 ? relative / runs - 1.0 : 0.0);
    f[4] = static_cast<float>(runs) / ops;
    f[5] = static_cast<float>(fastest) / ops;
    f[6] = static_cast<float>(topology.UnitsOf(d)) / static_cast<float>(topology.num_units);
    f[7] = Squashed(links.out * per_other);
    f[8] = Squashed(links.in * per_other);
    f[9] = Squashed(links.latency * per_other);
    f[10] = static_cast<float>(links.FreeShare());
    f[11] = Fullness(weights, topology.memory_bytes[At(topology.memory_of[At(d)])]);
  }
}

void DescribeWhole(const OneShotProblem& problem, OneShotFeatures& features) {
  const CostedGraph& costed = problem.costed();
  const double ops = costed.num_groups;
  const double edges = static_cast<double>(costed.predecessors.size());
  double work = 0, transfers = 0, unlikeness = 0;
  for (OpId op = 0; op < costed.num_groups; ++op) {
    work += problem.mean_seconds()[At(op)];
    unlikeness += Ratio(costed.fastest_seconds[At(op)], problem.mean_seconds()[At(op)], 1);
  }
  for (const GroupEdge& edge : costed.predecessors) transfers += problem.mean_transfer().Seconds(edge.bytes);
  const std::vector<double>& memories = costed.topology.memory_bytes;
  const double weights = std::accumulate(costed.weight_bytes.begin(), costed.weight_bytes.end(), 0.0);
  const double path = problem.critical_path();
  features.global = {
      static_cast<float>(std::log(ops) / 5),
      static_cast<float>(std::log(static_cast<double>(costed.num_devices)) / 2),
      Squashed(edges > 0 ? transfers / edges / problem.scale() : 0.0),
      static_cast<float>(std::log1p(Ratio(work, path, ops)) / 3),
      Squashed(Ratio(work / costed.num_devices, path, ops)),
      static_cast<float>(unlikeness / ops),
      Squashed(edges / ops),
      Fullness(weights, std::accumulate(memories.begin(), memories.end(), 0.0)),
  };
}

// Edges of every row in CSR form, ends ascending, with the mean transfer each stands for.
template <typename EdgesOf>
void AddEdges(const OneShotProblem& problem, EdgesOf edges_of, std::vector<std::int32_t>& offsets,
              std::vector<std::int32_t>& ends, std::vector<float>& features) {
  offsets.push_back(0);
  std::vector<std::pair<std::int32_t, double>> row_edges;
  for (const OpId op : problem.order()) {
    row_edges.clear();
    for (const GroupEdge& edge : edges_of(op)) row_edges.push_back({problem.RowOf(edge.group), edge.bytes});
    std::sort(row_edges.begin(), row_edges.end());
    for (const auto& [row, bytes] : row_edges) {
      ends.push_back(row);
      features.push_back(Squashed(problem.mean_transfer().Seconds(bytes) / problem.scale()));
    }
    offsets.push_back(static_cast<std::int32_t>(ends.size()));
  }
}

}  // namespace

OneShotFeatures MakeOneShotFeatures(const OneShotProblem& problem) {
  const CostedGraph& costed = problem.costed();
  OneShotFeatures features;
  features.num_rows = problem.num_rows();
  features.num_devices = problem.num_devices();
  features.ops.resize(At(features.num_rows) * kOneShotOpFeatures);
  features.devices.resize(At(features.num_devices) * kOneShotDeviceFeatures);
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
