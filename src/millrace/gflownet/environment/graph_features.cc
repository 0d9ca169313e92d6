// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/environment/graph_features.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "millrace/network/device_links.h"
#include "millrace/network/squash.h"

namespace millrace {
namespace {

// The seconds of a group over the devices that can run it.
struct Spread {
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  double onward = 0;  // mean optimistic cost
  int devices = 0;
};

Spread SpreadOf(const Environment& environment, int group) {
  Spread spread;
  for (int d = 0; d < environment.num_devices(); ++d) {
    const double seconds = environment.costed().Seconds(group, d);
    if (!std::isfinite(seconds)) continue;
    spread.least = std::min(spread.least, seconds);
    spread.most = std::max(spread.most, seconds);
    spread.onward += environment.OptimisticCost(group, d);
    ++spread.devices;
  }
  spread.onward /= spread.devices;
  return spread;
}

float Ratio(double part, double whole, double otherwise) {
  return static_cast<float>(whole > 0 ? part / whole : otherwise);
}

// Adds the edges of every group in CSR form and the mean transfer of each.
template <typename EdgesOf>
void AddEdges(const Environment& environment, EdgesOf edges_of, std::vector<std::int32_t>& offsets,
              std::vector<std::int32_t>& ends, std::vector<float>& features) {
  const std::size_t edges = environment.costed().predecessors.size();
  offsets.reserve(static_cast<std::size_t>(environment.num_groups()) + 1);
  ends.reserve(edges);
  features.reserve(edges);
  offsets.push_back(0);
  for (int group = 0; group < environment.num_groups(); ++group) {
    for (const GroupEdge& edge : edges_of(group)) {
      ends.push_back(edge.group);
      features.push_back(
          Squash(static_cast<float>(environment.mean_transfer().Seconds(edge.bytes) / environment.scale())));
    }
    offsets.push_back(static_cast<std::int32_t>(ends.size()));
  }
}

std::vector<int> Depths(const CostedGraph& costed) {
  std::vector<int> depths(static_cast<std::size_t>(costed.num_groups), 0);
  for (const std::int32_t group : costed.topological_order) {
    for (const GroupEdge& edge : costed.Predecessors(group))
      depths[static_cast<std::size_t>(group)] =
          std::max(depths[static_cast<std::size_t>(group)], depths[static_cast<std::size_t>(edge.group)] + 1);
  }
  return depths;
}

void DescribeNodes(const Environment& environment, GraphFeatures& features) {
  const CostedGraph& costed = environment.costed();
  const double per_second = 1.0 / environment.scale();
  const std::vector<int> depths = Depths(costed);
  const int deepest = *std::max_element(depths.begin(), depths.end());
  const auto squashed = [per_second](double seconds) { return Squash(static_cast<float>(seconds * per_second)); };
  for (int group = 0; group < costed.num_groups; ++group) {
    const auto g = static_cast<std::size_t>(group);
    const double mean = environment.mean_seconds()[g];
    const double up = environment.upward_ranks()[g];
    const double down = environment.downward_ranks()[g];
    const double path = environment.critical_path();
    const Spread spread = SpreadOf(environment, group);
    double in = 0, out = 0, most_in = 0, most_out = 0;
    for (const GroupEdge& edge : costed.Predecessors(group)) {
      const double seconds = environment.mean_transfer().Seconds(edge.bytes);
      in += seconds;
      most_in = std::max(most_in, seconds);
    }
    for (const GroupEdge& edge : costed.Successors(group)) {
      const double seconds = environment.mean_transfer().Seconds(edge.bytes);
      out += seconds;
      most_out = std::max(most_out, seconds);
    }
    const auto f = RowAt<NodeFeature>(features.nodes, g);
    f[NodeFeature::kMeanSeconds] = squashed(mean);
    f[NodeFeature::kFastest] = Ratio(spread.least, mean, 1);
    f[NodeFeature::kSlowest] = Squash(Ratio(spread.most, mean, 1) - 1.0f);
    f[NodeFeature::kUpwardRank] = Ratio(up, path, 1);
    f[NodeFeature::kDownwardRank] = Ratio(down, path, 0);
    f[NodeFeature::kSlack] = 1.0f - f[NodeFeature::kUpwardRank] - f[NodeFeature::kDownwardRank];
    f[NodeFeature::kRankSeconds] = squashed(up) / 4;
    f[NodeFeature::kInputs] = squashed(in);
    f[NodeFeature::kOutputs] = squashed(out);
    f[NodeFeature::kLargestInput] = squashed(most_in);
    f[NodeFeature::kLargestOutput] = squashed(most_out);
    f[NodeFeature::kNumInputs] = Squash(static_cast<float>(costed.Predecessors(group).size()));
    f[NodeFeature::kNumOutputs] = Squash(static_cast<float>(costed.Successors(group).size()));
    f[NodeFeature::kDeviceShare] = static_cast<float>(spread.devices) / static_cast<float>(costed.num_devices);
    f[NodeFeature::kTransfersAhead] = Ratio(up - mean - spread.onward, path, 0);
    f[NodeFeature::kDepth] = deepest > 0 ? static_cast<float>(depths[g]) / static_cast<float>(deepest) : 0.0f;
  }
}

void DescribeDevices(const Environment& environment, GraphFeatures& features) {
  const CostedGraph& costed = environment.costed();
  const Topology& topology = costed.topology;
  const double mean_bytes = MeanEdgeBytes(costed);
  for (int d = 0; d < costed.num_devices; ++d) {
    double relative = 0;
    int runs = 0, fastest = 0;
    for (int group = 0; group < costed.num_groups; ++group) {
      const double seconds = costed.Seconds(group, d);
      if (!std::isfinite(seconds)) continue;
      ++runs;
      relative += Ratio(seconds, environment.mean_seconds()[static_cast<std::size_t>(group)], 1);
      fastest += seconds <= costed.fastest_seconds[static_cast<std::size_t>(group)] ? 1 : 0;
    }
    const DeviceLinks links = LinksOf(costed, d, mean_bytes);
    const double per_link = 1.0 / (environment.scale() * std::max(1, links.others));
    const auto f = RowAt<DeviceFeature>(features.devices, static_cast<std::size_t>(d));
    f[DeviceFeature::kSeconds] = Squash(static_cast<float>(runs > 0 ? relative / runs - 1.0 : 0.0));
    f[DeviceFeature::kRunnable] = static_cast<float>(runs) / static_cast<float>(costed.num_groups);
    f[DeviceFeature::kFastest] = static_cast<float>(fastest) / static_cast<float>(costed.num_groups);
    f[DeviceFeature::kUnits] = static_cast<float>(topology.UnitsOf(d)) / static_cast<float>(topology.num_units);
    f[DeviceFeature::kTransferOut] = Squash(static_cast<float>(links.out * per_link));
    f[DeviceFeature::kTransferIn] = Squash(static_cast<float>(links.in * per_link));
    f[DeviceFeature::kLatency] = Squash(static_cast<float>(links.latency * per_link));
    f[DeviceFeature::kFreeTransfer] = static_cast<float>(links.FreeShare());
  }
}

void DescribeWhole(const Environment& environment, GraphFeatures& features) {
  const CostedGraph& costed = environment.costed();
  double work = 0, transfers = 0, likeness = 0;
  for (int group = 0; group < costed.num_groups; ++group) {
    const double mean = environment.mean_seconds()[static_cast<std::size_t>(group)];
    work += mean;
    likeness += Ratio(costed.fastest_seconds[static_cast<std::size_t>(group)], mean, 1);
  }
  for (const GroupEdge& edge : costed.predecessors) transfers += environment.mean_transfer().Seconds(edge.bytes);
  const double groups = costed.num_groups;
  const double edges = static_cast<double>(costed.predecessors.size());
  const FeatureRow<GlobalFeature> f(features.global.data());
  f[GlobalFeature::kGroups] = static_cast<float>(std::log(groups) / 5);
  f[GlobalFeature::kDevices] = static_cast<float>(std::log(static_cast<double>(costed.num_devices)) / 2);
  f[GlobalFeature::kTransfer] = Squash(static_cast<float>(edges > 0 ? transfers / edges / environment.scale() : 0.0));
  f[GlobalFeature::kParallelism] =
      static_cast<float>(std::log1p(environment.critical_path() > 0 ? work / environment.critical_path() : groups) / 3);
  f[GlobalFeature::kCrowding] = Squash(Ratio(work / costed.num_devices, environment.critical_path(), groups));
  f[GlobalFeature::kFastest] = static_cast<float>(likeness / groups);
  f[GlobalFeature::kEdges] = Squash(static_cast<float>(edges / groups));
  f[GlobalFeature::kUnits] = static_cast<float>(costed.topology.num_units) / static_cast<float>(costed.num_devices);
}

}  // namespace

GraphFeatures MakeGraphFeatures(const Environment& environment) {
  const CostedGraph& costed = environment.costed();
  GraphFeatures features;
  features.num_groups = costed.num_groups;
  features.num_devices = costed.num_devices;
  features.nodes.resize(static_cast<std::size_t>(costed.num_groups) * kNodeFeatures);
  features.devices.resize(static_cast<std::size_t>(costed.num_devices) * kDeviceFeatures);
  DescribeNodes(environment, features);
  DescribeDevices(environment, features);
  DescribeWhole(environment, features);
  AddEdges(
      environment, [&costed](int group) { return costed.Predecessors(group); }, features.predecessor_offsets,
      features.predecessors, features.predecessor_features);
  AddEdges(
      environment, [&costed](int group) { return costed.Successors(group); }, features.successor_offsets,
      features.successors, features.successor_features);
  return features;
}

}  // namespace millrace
