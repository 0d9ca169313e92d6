// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/hdp/features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>

#include "millrace/graph/index.h"
#include "millrace/heuristics/upward_rank.h"

namespace millrace {
namespace {

constexpr int kWaves = 6;
constexpr int kSquashed = kHdpSizes + 2;  // sizes and the two degrees
constexpr double kPi = 3.14159265358979323846;

void NumberUnits(const CostedGraph& costed, HdpFeatures& features) {
  std::vector<std::int32_t> of_colocation(Index(costed.num_colocations), -1);
  features.unit_of.resize(Index(costed.num_groups));
  for (std::size_t group = 0; group < features.unit_of.size(); ++group) {
    const std::int32_t colocation = costed.colocation[group];
    if (colocation >= 0 && of_colocation[Index(colocation)] >= 0) {
      features.unit_of[group] = of_colocation[Index(colocation)];
      continue;
    }
    features.unit_of[group] = features.num_units++;
    if (colocation >= 0) of_colocation[Index(colocation)] = features.unit_of[group];
  }
}

void CountTypes(const ComputationGraph& graph, const CostedGraph& costed, HdpFeatures& features) {
  std::map<std::string, std::int32_t> number;
  for (const Op& op : graph.ops()) number.emplace(op.type, 0);
  for (auto& [type, index] : number) index = features.num_types++;
  features.types.assign(Index(features.num_units) * Index(features.num_types), 0);
  for (std::size_t group = 0; group < features.unit_of.size(); ++group) {
    for (const OpId op : costed.groups[group]) {
      features
          .types[Index(features.unit_of[group]) * Index(features.num_types) + Index(number.at(graph.op(op).type))] += 1;
    }
  }
}

void SumSizes(const CostedGraph& costed, HdpFeatures& features) {
  features.sizes.assign(Index(features.num_units) * kHdpSizes, 0);
  features.place.assign(Index(features.num_units), 0);
  std::vector<double> members(Index(features.num_units), 0);
  const std::vector<double> seconds = MeanSeconds(costed);
  const std::vector<int> positions = TopologicalPositions(costed);
  for (std::size_t group = 0; group < features.unit_of.size(); ++group) {
    const std::size_t unit = Index(features.unit_of[group]);
    features.sizes[unit * kHdpSizes] += seconds[group];
    features.sizes[unit * kHdpSizes + 1] += costed.weight_bytes[group];
    features.place[unit] += static_cast<double>(positions[group]) / std::max(1, costed.num_groups - 1);
    members[unit] += 1;
  }
  for (std::size_t unit = 0; unit < members.size(); ++unit) {
    features.sizes[unit * kHdpSizes + 3] = 1;
    features.place[unit] /= members[unit];
  }
  for (const GroupTensor& tensor : costed.tensors) {
    if (tensor.producer < 0) continue;
    const std::int32_t from = features.unit_of[Index(tensor.producer)];
    features.sizes[Index(from) * kHdpSizes + 2] += tensor.bytes;
    for (const std::int32_t reader : costed.Readers(tensor)) {
      const std::int32_t to = features.unit_of[Index(reader)];
      if (from != to) features.edges.push_back({from, to, tensor.bytes});
    }
  }
  for (std::size_t size = 0; size < kHdpSizes; ++size) {
    double sum = 0;
    for (std::size_t unit = 0; unit < members.size(); ++unit) sum += features.sizes[unit * kHdpSizes + size];
    for (std::size_t unit = 0; unit < members.size() && sum > 0; ++unit) features.sizes[unit * kHdpSizes + size] /= sum;
  }
}

// Divides each block of types by its sum.
void Normalise(std::vector<float>& rows, std::size_t columns, std::size_t first, std::size_t types) {
  for (std::size_t row = 0; row + columns <= rows.size(); row += columns) {
    const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(row + first);
    const auto end = begin + static_cast<std::ptrdiff_t>(types);
    float sum = 0;
    for (auto value = begin; value != end; ++value) sum += *value;
    for (auto value = begin; value != end && sum > 0; ++value) *value /= sum;
  }
}

void FillRows(HdpFeatures& features) {
  const std::size_t types = Index(features.num_types);
  const std::size_t columns = 3 * types + kSquashed + std::size_t{2} * kWaves + 1;
  features.num_columns = static_cast<int>(columns);
  features.rows.assign(Index(features.num_units) * columns, 0);
  std::vector<std::array<double, 2>> degrees(Index(features.num_units));
  const auto add_types = [&](std::int32_t to, std::size_t block, std::int32_t from) {
    for (std::size_t type = 0; type < types; ++type) {
      features.rows[Index(to) * columns + block * types + type] += features.types[Index(from) * types + type];
    }
  };
  for (std::int32_t unit = 0; unit < features.num_units; ++unit) add_types(unit, 0, unit);
  for (const HdpFeatures::Edge& edge : features.edges) {
    add_types(edge.from, 1, edge.to);
    add_types(edge.to, 2, edge.from);
    degrees[Index(edge.from)][0] += 1;
    degrees[Index(edge.to)][1] += 1;
  }
  for (std::size_t block = 0; block < 3; ++block) Normalise(features.rows, columns, block * types, types);
  for (std::size_t unit = 0; unit < degrees.size(); ++unit) {
    float* out = &features.rows[unit * columns + 3 * types];
    for (std::size_t size = 0; size < kHdpSizes; ++size) {
      *out++ = static_cast<float>(std::log1p(features.sizes[unit * kHdpSizes + size] * features.num_units));
    }
    for (const double degree : degrees[unit]) *out++ = static_cast<float>(std::log1p(degree));
    *out++ = static_cast<float>(features.place[unit]);
    for (int wave = 0; wave < kWaves; ++wave) {
      const double angle = kPi * std::ldexp(features.place[unit], wave);
      *out++ = static_cast<float>(std::sin(angle));
      *out++ = static_cast<float>(std::cos(angle));
    }
  }
}

}  // namespace

HdpFeatures MakeHdpFeatures(const ComputationGraph& graph, const CostedGraph& costed) {
  HdpFeatures features;
  NumberUnits(costed, features);
  CountTypes(graph, costed, features);
  SumSizes(costed, features);
  FillRows(features);
  return features;
}

}  // namespace millrace
