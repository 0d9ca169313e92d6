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

// Do they fit where no device may take longer than `limit`? Each takes as many as it can.
bool Fit(const std::vector<std::vector<double>>& seconds, double limit) {
  std::size_t layer = 0;
  for (const std::vector<double>& own : seconds) {
    double taken = 0;
    while (layer < own.size() && taken + own[layer] <= limit) taken += own[layer++];
  }
  return layer == seconds.front().size();
}

// By device, the first layer such that it and all behind it fit on this device and those behind it; one more, which is
// the number of layers.
std::vector<std::size_t> FirstThatFit(const std::vector<std::vector<double>>& seconds, double limit) {
  std::vector<std::size_t> first(seconds.size() + 1, seconds.front().size());
  for (std::size_t device = seconds.size(); device-- > 0;) {
    std::size_t layer = first[device + 1];
    double taken = 0;
    while (layer > 0 && taken + seconds[device][layer - 1] <= limit) taken += seconds[device][--layer];
    first[device] = layer;
  }
  return first;
}

// Where each layer goes if no device may take longer than `limit`, which is enough for all: each takes about its share
// of what is left, one layer at least, and leaves as many as there are devices behind it.
std::vector<int> EvenBlocks(const std::vector<std::vector<double>>& seconds, double limit) {
  const std::size_t layers = seconds.front().size();
  const std::vector<std::size_t> first = FirstThatFit(seconds, limit);
  std::vector<int> block_of;
  for (std::size_t device = 0; device < seconds.size(); ++device) {
    const std::vector<double>& own = seconds[device];
    const std::size_t behind = seconds.size() - device - 1;
    double left = 0;
    for (std::size_t layer = block_of.size(); layer < layers; ++layer) left += own[layer];
    const double share = left / static_cast<double>(behind + 1);
    double taken = 0;
    while (block_of.size() < layers) {
      const std::size_t layer = block_of.size();
      const double with_half = taken + own[layer] / 2;
      const bool must = layer < first[device + 1];
      const bool fits = taken + own[layer] <= limit;
      const bool wants = taken == 0 || (with_half <= share && layers - layer > behind);
      if (!must && !(fits && wants)) break;
      taken += own[layer];
      block_of.push_back(static_cast<int>(device));
    }
  }
  return block_of;
}

// `seconds` by device, by layer. Halving the range of limits ends at the least one but for rounding.
std::vector<int> BalancedBlocks(const std::vector<std::vector<double>>& seconds) {
  double low = 0, high = 0;
  for (const double s : seconds.front()) high += s;
  high = high * (1 + 1e-12);
  constexpr int kHalvings = 60;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (low + high);
    (Fit(seconds, middle) ? high : low) = middle;
  }
  constexpr double kRounding = 1e-9;  // sums from the last layer on differ from those from the first on
  return EvenBlocks(seconds, high * (1 + kRounding));
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
