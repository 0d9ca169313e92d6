// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/select.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "millrace/plan/chain_graph.h"
#include "millrace/plan/distance.h"

namespace millrace {
namespace {

// What tells one entry from another, worked out only for entries that are looked at.
struct Features {
  std::size_t entry = 0;
  std::vector<std::pair<int, int>> chain_edges;
  std::vector<int> kinds;  // of each group's device
};

class DistinctEntries {
 public:
  DistinctEntries(const Pool& pool, const Machine& machine) : pool_(pool) {
    std::map<std::string, int> number;
    for (const Device& device : machine.devices) {
      kind_of_device_.push_back(number.emplace(device.kind, static_cast<int>(number.size())).first->second);
    }
  }

  Features FeaturesOf(std::size_t index) const {
    const PoolEntry& entry = pool_.entries[index];
    Features features{
        index, ChainEdges(pool_.costed[static_cast<std::size_t>(entry.fusion)].topology, entry.assignment), {}};
    for (const int device : entry.assignment.placement) {
      features.kinds.push_back(kind_of_device_[static_cast<std::size_t>(device)]);
    }
    return features;
  }

  // From the nearest taken entry with the same groups; 1 where there is none.
  double DistanceToTaken(const Features& features) const {
    double least = 1;
    for (const Features& other : taken_) {
      if (pool_.entries[other.entry].fusion != pool_.entries[features.entry].fusion) continue;
      least = std::min(
          least, std::max(ChainEditDistance(other.chain_edges, features.chain_edges), KindDistance(other, features)));
    }
    return least;
  }

  void Take(Features features) { taken_.push_back(std::move(features)); }
  const std::vector<Features>& taken() const { return taken_; }

 private:
  // A plan on a gang is not the same plan on one core, though both have the same chain.
  static double KindDistance(const Features& a, const Features& b) {
    std::size_t different = 0;
    for (std::size_t i = 0; i < a.kinds.size(); ++i) different += a.kinds[i] != b.kinds[i];
    return a.kinds.empty() ? 0.0 : static_cast<double>(different) / static_cast<double>(a.kinds.size());
  }

  const Pool& pool_;
  std::vector<int> kind_of_device_;
  std::vector<Features> taken_;
};

}  // namespace

std::vector<Candidate> SelectDiverse(const Pool& pool, const Machine& machine, const SelectOptions& options) {
  std::vector<std::size_t> order(pool.entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&pool](std::size_t a, std::size_t b) {
    return pool.entries[a].proxy_seconds < pool.entries[b].proxy_seconds;
  });
  DistinctEntries distinct(pool, machine);
  std::vector<std::size_t> passed_over;
  for (const std::size_t index : order) {
    if (distinct.taken().size() >= options.top_k) break;
    Features features = distinct.FeaturesOf(index);
    if (distinct.DistanceToTaken(features) >= options.least_distance) {
      distinct.Take(std::move(features));
    } else {
      passed_over.push_back(index);
    }
  }
  for (const std::size_t index : passed_over) {
    if (distinct.taken().size() >= options.top_k) break;
    Features features = distinct.FeaturesOf(index);
    if (distinct.DistanceToTaken(features) > 0) distinct.Take(std::move(features));
  }
  std::vector<Candidate> selected;
  for (const Features& features : distinct.taken())
    selected.push_back(MakeCandidate(pool, pool.entries[features.entry]));
  std::stable_sort(selected.begin(), selected.end(),
                   [](const Candidate& a, const Candidate& b) { return a.proxy_seconds < b.proxy_seconds; });
  return selected;
}

}  // namespace millrace
