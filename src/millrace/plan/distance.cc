// SPDX-License-Identifier: Apache-2.0
#include "millrace/plan/distance.h"

#include <cmath>

namespace millrace {
namespace {

double SquaredStartDistance(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

}  // namespace

double ChainEditDistance(std::span<const std::pair<int, int>> edges_a, std::span<const std::pair<int, int>> edges_b) {
  std::size_t a = 0, b = 0, both = 0;
  while (a < edges_a.size() && b < edges_b.size()) {
    if (edges_a[a] == edges_b[b])
      ++both, ++a, ++b;
    else if (edges_a[a] < edges_b[b])
      ++a;
    else
      ++b;
  }
  const std::size_t all = edges_a.size() + edges_b.size();
  return all == 0 ? 0.0 : static_cast<double>(all - 2 * both) / static_cast<double>(all);
}

double StartDistance(std::span<const double> starts_a, std::span<const double> starts_b) {
  return std::sqrt(SquaredStartDistance(starts_a, starts_b));
}

double StartAndPlacementDistance(std::span<const double> starts_a, std::span<const int> placement_a,
                                 std::span<const double> starts_b, std::span<const int> placement_b, double scale) {
  double sum = SquaredStartDistance(starts_a, starts_b);
  for (std::size_t i = 0; i < placement_a.size(); ++i) {
    if (placement_a[i] != placement_b[i]) sum += scale * scale;
  }
  return std::sqrt(sum);
}

}  // namespace millrace
