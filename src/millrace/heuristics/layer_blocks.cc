// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/layer_blocks.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

namespace millrace {
namespace {

// By group, as the header says.
std::vector<int> LayersOf(const CostedGraph& costed) {
  const auto groups = static_cast<std::size_t>(costed.num_groups);
  std::vector<int> layers(costed.layer.begin(), costed.layer.end());
  const auto at = [&layers](int group) -> int& { return layers[static_cast<std::size_t>(group)]; };
  const bool none = std::all_of(layers.begin(), layers.end(), [](int layer) { return layer < 0; });
  for (const std::int32_t group : costed.topological_order) {
    if (!none && costed.layer[static_cast<std::size_t>(group)] >= 0) continue;
    for (const GroupEdge& edge : costed.Predecessors(group)) at(group) = std::max(at(group), at(edge.group) + none);
    if (none) at(group) = std::max(at(group), 0);
  }
  for (std::size_t i = groups; i-- > 0;) {
    const std::int32_t group = costed.topological_order[i];
    if (at(group) >= 0) continue;
    for (const GroupEdge& edge : costed.Successors(group)) {
      if (at(edge.group) >= 0 && (at(group) < 0 || at(edge.group) < at(group))) at(group) = at(edge.group);
    }
  }
  std::map<int, int> number;
  for (int& layer : layers) number[layer = std::max(layer, 0)] = 0;
  int next = 0;
  for (auto& [layer, own] : number) own = next++;
  for (int& layer : layers) layer = number[layer];
  return layers;
}

// Where each layer goes if no device may take longer than `limit`: each takes as many as fit. Empty where the last
// device would take longer.
std::vector<int> Blocks(const std::vector<std::vector<double>>& seconds, double limit) {
  std::vector<int> block_of;
  std::size_t device = 0;
  double taken = 0;
  for (std::size_t layer = 0; layer < seconds.front().size(); ++layer) {
    while (device < seconds.size() && taken + seconds[device][layer] > limit) {
      ++device;
      taken = 0;
    }
    if (device == seconds.size()) return {};
    taken += seconds[device][layer];
    block_of.push_back(static_cast<int>(device));
  }
  return block_of;
}

// `seconds` by device, by layer. Halving the range of limits ends at the best block order but for rounding.
std::vector<int> BalancedBlocks(const std::vector<std::vector<double>>& seconds) {
  double low = 0, high = 0;
  for (const double s : seconds.front()) high += s;
  high = high * (1 + 1e-12);
  std::vector<int> best = Blocks(seconds, high);
  constexpr int kHalvings = 60;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (low + high);
    std::vector<int> blocks = Blocks(seconds, middle);
    if (blocks.empty()) {
      low = middle;
    } else {
      high = middle;
      best = std::move(blocks);
    }
  }
  return best;
}

}  // namespace

LayerBlocks::LayerBlocks(const CostedGraph& costed)
    : costed_(costed), bound_(ColocatedGroupsOf(costed)), devices_(LoneDevices(costed)) {
  const std::vector<int> layers = LayersOf(costed);
  const auto count = static_cast<std::size_t>(*std::max_element(layers.begin(), layers.end())) + 1;
  seconds_.assign(devices_.size(), std::vector<double>(count, 0.0));
  for (const std::vector<int>& groups : bound_.groups) {
    layer_of_.push_back(layers[static_cast<std::size_t>(groups.front())]);
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      for (const int group : groups)
        seconds_[d][static_cast<std::size_t>(layer_of_.back())] += FiniteSeconds(costed, group, devices_[d]);
    }
  }
}

std::vector<int> LayerBlocks::Balanced(int devices) const {
  return BalancedBlocks({seconds_.begin(), seconds_.begin() + devices});
}

std::vector<int> LayerBlocks::Placement(const std::vector<int>& blocks) const {
  std::vector<int> wished;
  wished.reserve(layer_of_.size());
  for (const int layer : layer_of_)
    wished.push_back(devices_[static_cast<std::size_t>(blocks[static_cast<std::size_t>(layer)])]);
  return PlacementWished(costed_, bound_, wished);
}

}  // namespace millrace
