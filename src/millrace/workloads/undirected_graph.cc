// SPDX-License-Identifier: Apache-2.0
#include "millrace/workloads/undirected_graph.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_set>

namespace millrace {
namespace {

std::uint64_t PairKey(std::int32_t a, std::int32_t b) {
  return static_cast<std::uint64_t>(std::min(a, b)) << 32 | static_cast<std::uint64_t>(std::max(a, b));
}

// Calls visit(index), ascending, for each of 0..total-1 chosen independently with `probability`. It draws the gaps
// between the chosen ones, so it costs time in proportion to them only (Batagelj and Brandes, Phys. Rev. E, 2005).
template <typename Visit>
void VisitChosen(std::int64_t total, double probability, Random& random, Visit visit) {
  if (!(probability > 0)) return;
  const double log_left_out = std::log1p(-std::min(probability, 1.0));
  std::int64_t index = 0;
  while (true) {
    const double gap = std::floor(std::log1p(-random.Uniform()) / log_left_out);
    if (gap >= static_cast<double>(total - index)) return;
    index += static_cast<std::int64_t>(gap);
    visit(index);
    ++index;
  }
}

// Links each pair among nodes first..first+size-1 with `probability`.
void LinkWithin(std::int32_t first, std::int32_t size, double probability, Random& random, Links& links) {
  std::int64_t row = 1;  // pair `index` is (row, index - before), where `before` pairs have a smaller row
  std::int64_t before = 0;
  const std::int64_t pairs = static_cast<std::int64_t>(size) * (size - 1) / 2;
  VisitChosen(pairs, probability, random, [&](std::int64_t index) {
    while (index >= before + row) before += row++;
    links.emplace_back(first + static_cast<std::int32_t>(index - before), first + static_cast<std::int32_t>(row));
  });
}

}  // namespace

Links DrawErdosRenyi(std::int32_t nodes, double degree, Random& random) {
  Links links;
  if (nodes > 1) LinkWithin(0, nodes, degree / (nodes - 1), random, links);
  return links;
}

Links DrawStochasticBlocks(std::int32_t nodes, double degree, std::int32_t blocks, double inside, Random& random) {
  blocks = std::clamp(blocks, 1, nodes);
  const auto first = [&](std::int32_t block) {
    return static_cast<std::int32_t>(static_cast<std::int64_t>(nodes) * block / blocks);
  };
  const double size = static_cast<double>(nodes) / blocks;
  const double probability_inside = size > 1 ? degree * inside / (size - 1) : 0;
  const double probability_across = blocks > 1 ? degree * (1 - inside) / (nodes - size) : 0;
  Links links;
  for (std::int32_t block = 0; block < blocks; ++block) {
    const std::int32_t block_size = first(block + 1) - first(block);
    LinkWithin(first(block), block_size, probability_inside, random, links);
    for (std::int32_t other = block + 1; other < blocks; ++other) {
      const std::int64_t other_size = first(other + 1) - first(other);
      VisitChosen(block_size * other_size, probability_across, random, [&](std::int64_t index) {
        links.emplace_back(first(block) + static_cast<std::int32_t>(index / other_size),
                           first(other) + static_cast<std::int32_t>(index % other_size));
      });
    }
  }
  return links;
}

Links DrawWattsStrogatz(std::int32_t nodes, double degree, double rewired, Random& random) {
  const auto wanted = static_cast<std::int32_t>(std::max<std::int64_t>(1, std::llround(degree / 2)));
  const std::int32_t reach = std::min(wanted, (nodes - 1) / 2);
  Links links;
  links.reserve(static_cast<std::size_t>(nodes) * static_cast<std::size_t>(reach));
  for (std::int32_t step = 1; step <= reach; ++step) {
    for (std::int32_t node = 0; node < nodes; ++node) links.emplace_back(node, (node + step) % nodes);
  }
  std::unordered_set<std::uint64_t> taken;
  taken.reserve(links.size());
  for (const auto& [node, other] : links) taken.insert(PairKey(node, other));
  for (auto& [node, other] : links) {
    if (random.Uniform() >= rewired) continue;
    // A node that is linked to nearly all others keeps the link it has.
    for (int attempt = 0; attempt < 20; ++attempt) {
      const auto target = static_cast<std::int32_t>(random.Below(static_cast<std::uint64_t>(nodes)));
      if (target == node || !taken.insert(PairKey(node, target)).second) continue;
      taken.erase(PairKey(node, other));
      other = target;
      break;
    }
  }
  return links;
}

Links DrawBarabasiAlbert(std::int32_t nodes, double degree, Random& random) {
  const auto wanted = static_cast<std::int32_t>(std::max<std::int64_t>(1, std::llround(degree / 2)));
  const std::int32_t fresh = std::min(wanted, nodes - 1);  // links that each new node brings
  Links links;
  links.reserve(static_cast<std::size_t>(nodes) * static_cast<std::size_t>(fresh));
  for (std::int32_t node = 1; node <= fresh; ++node) links.emplace_back(0, node);
  std::vector<std::int32_t> targets;
  for (std::int32_t node = fresh + 1; node < nodes; ++node) {
    targets.clear();
    // Either end of a random link is a node drawn in proportion to its degree.
    while (static_cast<std::int32_t>(targets.size()) < fresh) {
      const std::uint64_t end = random.Below(2 * links.size());
      const auto& link = links[end / 2];
      const std::int32_t target = end % 2 == 0 ? link.first : link.second;
      if (std::find(targets.begin(), targets.end(), target) == targets.end()) targets.push_back(target);
    }
    for (const std::int32_t target : targets) links.emplace_back(target, node);
  }
  return links;
}

void OrientAtRandom(std::int32_t nodes, Random& random, Links& links) {
  std::vector<std::int32_t> rank(static_cast<std::size_t>(nodes));
  std::iota(rank.begin(), rank.end(), 0);
  for (std::size_t i = rank.size(); i > 1; --i) std::swap(rank[i - 1], rank[random.Below(i)]);
  for (auto& [from, to] : links) {
    const std::int32_t a = rank[static_cast<std::size_t>(from)];
    const std::int32_t b = rank[static_cast<std::size_t>(to)];
    from = std::min(a, b);
    to = std::max(a, b);
  }
}

void Connect(std::int32_t nodes, Random& random, Links& links) {
  std::vector<std::int32_t> parent(static_cast<std::size_t>(nodes));
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](std::int32_t node) {
    while (parent[static_cast<std::size_t>(node)] != node) {
      std::int32_t& up = parent[static_cast<std::size_t>(node)];
      up = parent[static_cast<std::size_t>(up)];
      node = up;
    }
    return node;
  };
  // The lower root wins, so a piece's root is its lowest id.
  for (const auto& [from, to] : links) {
    const std::int32_t a = root(from);
    const std::int32_t b = root(to);
    parent[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
  }
  for (std::int32_t node = 1; node < nodes; ++node) {
    if (parent[static_cast<std::size_t>(node)] != node) continue;
    links.emplace_back(static_cast<std::int32_t>(random.Below(static_cast<std::uint64_t>(node))), node);
  }
}

}  // namespace millrace
