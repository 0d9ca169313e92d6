// SPDX-License-Identifier: Apache-2.0
#include "millrace/workloads/layered_graph.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "millrace/errors/interrupt.h"

namespace millrace {
namespace {

constexpr double kSizeSpread = 0.75;
constexpr double kDensity = 0.2;
constexpr double kSkipShare = 0.14;
constexpr double kMostLayerLinks = 1e7;

std::vector<std::int64_t> DrawLayerSizes(std::int64_t ops, Random& random) {
  const double width = random.Uniform(0.25, 0.5);
  const double wanted_layers = std::ceil(std::sqrt(static_cast<double>(ops) * (1 / width - 1)));
  const std::int64_t layers = std::min(ops, static_cast<std::int64_t>(wanted_layers));
  const double mean = static_cast<double>(ops) / static_cast<double>(layers);
  const auto least = static_cast<std::int64_t>(std::ceil(mean * (1 - kSizeSpread)));
  // With just over one op per layer the range would be the number 1 alone, and the sizes could not reach V.
  const auto most = static_cast<std::int64_t>(std::max(std::floor(mean * (1 + kSizeSpread)), std::ceil(mean)));

  std::vector<std::int64_t> sizes(static_cast<std::size_t>(layers));
  std::int64_t total = 0;
  for (std::int64_t& size : sizes) {
    size = least + static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(most - least + 1)));
    total += size;
  }
  while (total != ops) {
    std::int64_t& size = sizes[random.Below(sizes.size())];
    const std::int64_t step = total < ops ? 1 : -1;
    if (size + step < least || size + step > most) continue;
    size += step;
    total += step;
  }
  return sizes;
}

// The density that keeps the links between neighbouring layers at kMostLayerLinks or below, kDensity where that does.
double DensityFor(const std::vector<std::int64_t>& sizes) {
  double products = 0;
  double larger = 0;
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
    products += static_cast<double>(sizes[i]) * static_cast<double>(sizes[i + 1]);
    larger += static_cast<double>(std::max(sizes[i], sizes[i + 1]));
  }
  if (kDensity * products + (1 - kDensity) * larger <= kMostLayerLinks) return kDensity;
  return std::max(0.0, (kMostLayerLinks - larger) / (products - larger));
}

}  // namespace

LayeredGraph DrawLayeredGraph(std::int32_t ops, Random& random) {
  const std::vector<std::int64_t> sizes = DrawLayerSizes(ops, random);
  const auto layers = static_cast<std::int64_t>(sizes.size());
  std::vector<std::int64_t> first(sizes.size());
  LayeredGraph graph;
  graph.layer.reserve(static_cast<std::size_t>(ops));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    first[i] = static_cast<std::int64_t>(graph.layer.size());
    graph.layer.insert(graph.layer.end(), static_cast<std::size_t>(sizes[i]), static_cast<int>(i));
  }

  const double density = DensityFor(sizes);
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
    const bool forward = sizes[i] >= sizes[i + 1];  // the larger layer is the producers'
    const std::int64_t larger = std::max(sizes[i], sizes[i + 1]);
    const std::int64_t smaller = std::min(sizes[i], sizes[i + 1]);
    const double product = static_cast<double>(larger) * static_cast<double>(smaller);
    const auto links = static_cast<std::int64_t>(density * product + (1 - density) * static_cast<double>(larger));
    for (std::int64_t member = 0; member < larger; ++member) {
      const std::int64_t count = (member + 1) * links / larger - member * links / larger;
      const double position =
          (static_cast<double>(member) + 0.5) * static_cast<double>(smaller) / static_cast<double>(larger);
      const double leftmost = std::floor(position - static_cast<double>(count - 1) / 2);
      const std::int64_t begin =
          std::clamp<std::int64_t>(static_cast<std::int64_t>(leftmost), 0, std::max<std::int64_t>(0, smaller - count));
      for (std::int64_t other = begin; other < std::min(begin + count, smaller); ++other) {
        const std::int64_t producer = first[i] + (forward ? member : other);
        const std::int64_t consumer = first[i + 1] + (forward ? other : member);
        graph.links.emplace_back(static_cast<std::int32_t>(producer), static_cast<std::int32_t>(consumer));
      }
    }
  }
  StopIfInterrupted();

  if (layers < 3) return graph;
  const auto skips =
      static_cast<std::int64_t>(std::ceil(static_cast<double>(graph.links.size()) * kSkipShare / (1 - kSkipShare)));
  const auto draw = [&](std::int64_t from, std::int64_t to) {  // both included
    return from + static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(to - from + 1)));
  };
  std::unordered_set<std::uint64_t> taken;
  taken.reserve(static_cast<std::size_t>(skips));
  // A graph of three or four small layers may have fewer pairs to link than skips are due, hence the end to trying.
  std::int64_t tries = 20 * skips;
  for (std::int64_t skip = 0; skip < skips && tries > 0; --tries) {
    const auto from = static_cast<std::size_t>(draw(0, layers - 3));
    const auto to = static_cast<std::size_t>(draw(static_cast<std::int64_t>(from) + 2, layers - 1));
    const std::int64_t producer = first[from] + draw(0, sizes[from] - 1);
    const std::int64_t consumer = first[to] + draw(0, sizes[to] - 1);
    if (!taken.insert(static_cast<std::uint64_t>(producer) << 32 | static_cast<std::uint64_t>(consumer)).second) {
      continue;
    }
    graph.links.emplace_back(static_cast<std::int32_t>(producer), static_cast<std::int32_t>(consumer));
    ++skip;
  }
  return graph;
}

}  // namespace millrace
