// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/select.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "millrace/plan/chain_graph.h"
#include "millrace/plan/distance.h"
#include "millrace/planning/diverse.h"

namespace millrace {
namespace {

// How far entries of a pool are from each other. What tells one from another is worked out only for entries that are
// asked for.
class EntryDistance {
 public:
  EntryDistance(const Pool& pool, const Machine& machine) : pool_(pool), features_(pool.entries.size()) {
    std::map<std::string, int> number;
    for (const Device& device : machine.devices)
      kind_of_device_.push_back(number.emplace(device.kind, static_cast<int>(number.size())).first->second);
  }

  double operator()(std::size_t a, std::size_t b) {
    if (pool_.entries[a].fusion != pool_.entries[b].fusion) return 1;
    const Features& one = FeaturesOf(a);
    const Features& other = FeaturesOf(b);
    return std::max(ChainEditDistance(other.chain_edges, one.chain_edges), KindDistance(other.kinds, one.kinds));
  }

 private:
  struct Features {
    std::vector<std::pair<int, int>> chain_edges;
    std::vector<int> kinds;  // of each group's device
  };

  const Features& FeaturesOf(std::size_t index) {
    std::optional<Features>& features = features_[index];
    if (features) return *features;
    const PoolEntry& entry = pool_.entries[index];
    const CostedGraph& costed = pool_.fusions[static_cast<std::size_t>(entry.fusion)].costed;
    features = Features{ChainEdges(costed.topology, entry.assignment), {}};
    for (const int device : entry.assignment.placement)
      features->kinds.push_back(kind_of_device_[static_cast<std::size_t>(device)]);
    return *features;
  }

  // A plan on a gang is not the same plan on one core, though both have the same chain.
  static double KindDistance(const std::vector<int>& a, const std::vector<int>& b) {
    std::size_t different = 0;
    for (std::size_t i = 0; i < a.size(); ++i) different += a[i] != b[i];
    return a.empty() ? 0.0 : static_cast<double>(different) / static_cast<double>(a.size());
  }

  const Pool& pool_;
  std::vector<int> kind_of_device_;
  std::vector<std::optional<Features>> features_;
};

}  // namespace

std::vector<Candidate> SelectDiverse(const Pool& pool, const Machine& machine, const DiverseOptions& options,
                                     const Deadline& deadline, const std::vector<double>& judged) {
  std::vector<std::size_t> order(pool.entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto seconds = [&](std::size_t entry) {
    return judged.empty() ? pool.entries[entry].proxy_seconds : judged[entry];
  };
  std::stable_sort(order.begin(), order.end(),
                   [&seconds](std::size_t a, std::size_t b) { return seconds(a) < seconds(b); });
  EntryDistance distance(pool, machine);
  const std::vector<std::size_t> chosen = DiverseTopK(order.size(), options, [&](std::size_t plan, std::size_t other) {
    return deadline.Passed() ? 1.0 : distance(order[plan], order[other]);
  });
  std::vector<Candidate> selected;
  selected.reserve(chosen.size());
  for (const std::size_t plan : chosen) selected.push_back(MakeCandidate(pool, pool.entries[order[plan]]));
  std::stable_sort(selected.begin(), selected.end(),
                   [](const Candidate& a, const Candidate& b) { return a.proxy_seconds < b.proxy_seconds; });
  return selected;
}

}  // namespace millrace
