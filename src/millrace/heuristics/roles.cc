// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/roles.h"

#include <bit>
#include <cstddef>
#include <unordered_map>

#include "millrace/graph/index.h"
#include "millrace/random/split_mix.h"

namespace millrace {
namespace {

std::uint64_t ScatteredWith(std::uint64_t into, double value) {
  return Scattered(into ^ std::bit_cast<std::uint64_t>(value));
}

// Of what lies at the other ends of some edges, in any order.
std::uint64_t OfEdges(std::span<const GroupEdge> edges, const std::vector<std::uint64_t>& colours) {
  std::uint64_t sum = 0;
  for (const GroupEdge& edge : edges) sum += ScatteredWith(colours[Index(edge.group)], edge.bytes);
  return sum;
}

}  // namespace

std::vector<std::int32_t> RolesOf(const CostedGraph& costed, int rounds) {
  const auto groups = Index(costed.num_groups);
  std::vector<std::uint64_t> colours(groups);
  for (int group = 0; group < costed.num_groups; ++group) {
    std::uint64_t colour = Scattered(static_cast<std::uint64_t>(costed.layer[Index(group)]));
    for (int device = 0; device < costed.num_devices; ++device)
      colour = ScatteredWith(colour, costed.Seconds(group, device));
    colours[Index(group)] = colour;
  }
  std::vector<std::uint64_t> next(groups);
  for (int round = 0; round < rounds; ++round) {
    for (int group = 0; group < costed.num_groups; ++group) {
      const std::uint64_t read = Scattered(OfEdges(costed.Predecessors(group), colours));
      const std::uint64_t readers = Scattered(OfEdges(costed.Successors(group), colours) + 1);
      next[Index(group)] = Scattered(colours[Index(group)] ^ Scattered(read + 2 * readers));
    }
    colours.swap(next);
  }
  std::unordered_map<std::uint64_t, std::int32_t> number;
  std::vector<std::int32_t> roles(groups);
  for (const std::int32_t group : costed.topological_order) {
    const auto count = static_cast<std::int32_t>(number.size());
    roles[Index(group)] = number.try_emplace(colours[Index(group)], count).first->second;
  }
  return roles;
}

}  // namespace millrace
