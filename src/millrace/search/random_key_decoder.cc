// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/random_key_decoder.h"

#include <algorithm>

#include "millrace/graph/index.h"

namespace millrace {

RandomKeyDecoder::RandomKeyDecoder(const CostedGraph& costed)
    : costed_(costed), device_offsets_{0}, chooser_(Index(costed.num_groups)), waiting_(Index(costed.num_groups)) {
  const std::size_t devices = Index(costed.num_devices);
  std::vector<char> runs_all(Index(costed.num_colocations) * devices, 1);
  std::vector<std::int32_t> first_of(Index(costed.num_colocations), -1);
  for (int group = 0; group < costed.num_groups; ++group) {
    const std::int32_t colocation = costed.colocation[Index(group)];
    if (colocation < 0) continue;
    if (first_of[Index(colocation)] < 0) first_of[Index(colocation)] = group;
    for (int device = 0; device < costed.num_devices; ++device) {
      if (costed.Seconds(group, device) == kCannotRun) runs_all[Index(colocation) * devices + Index(device)] = 0;
    }
  }
  for (int group = 0; group < costed.num_groups; ++group) {
    const std::int32_t colocation = costed.colocation[Index(group)];
    chooser_[Index(group)] = colocation < 0 ? group : first_of[Index(colocation)];
    for (int device = 0; device < costed.num_devices; ++device) {
      const bool runs = colocation < 0 ? costed.Seconds(group, device) < kCannotRun
                                       : runs_all[Index(colocation) * devices + Index(device)] != 0;
      if (runs) devices_.push_back(device);
    }
    device_offsets_.push_back(static_cast<std::int32_t>(devices_.size()));
  }
  ready_.reserve(Index(costed.num_groups));
}

std::span<const std::int32_t> RandomKeyDecoder::DevicesOf(int group) const {
  const auto begin = Index(device_offsets_[Index(group)]);
  return std::span(devices_).subspan(begin, Index(device_offsets_[Index(group) + 1]) - begin);
}

void RandomKeyDecoder::Decode(std::span<const double> keys, Assignment& assignment) {
  const std::size_t groups = Index(costed_.num_groups);
  assignment.placement.resize(groups);
  assignment.sequence.clear();
  assignment.sequence.reserve(groups);
  for (int group = 0; group < costed_.num_groups; ++group) {
    const int chooser = chooser_[Index(group)];
    const std::span<const std::int32_t> devices = DevicesOf(chooser);
    const double at = keys[groups + Index(chooser)] * static_cast<double>(devices.size());
    assignment.placement[Index(group)] = devices[std::min(static_cast<std::size_t>(at), devices.size() - 1)];
  }
  const auto push = [&](std::int32_t group) {
    ready_.emplace_back(keys[Index(group)], -group);
    std::push_heap(ready_.begin(), ready_.end());
  };
  for (int group = 0; group < costed_.num_groups; ++group) {
    waiting_[Index(group)] = static_cast<std::int32_t>(costed_.Predecessors(group).size());
    if (waiting_[Index(group)] == 0) push(group);
  }
  while (!ready_.empty()) {
    std::pop_heap(ready_.begin(), ready_.end());
    const int group = -ready_.back().second;
    ready_.pop_back();
    assignment.sequence.push_back(group);
    for (const GroupEdge& edge : costed_.Successors(group)) {
      if (--waiting_[Index(edge.group)] == 0) push(edge.group);
    }
  }
}

std::vector<double> RandomKeyDecoder::Encode(const Assignment& assignment) const {
  const std::size_t groups = Index(costed_.num_groups);
  std::vector<double> encoded(2 * groups);
  for (std::size_t i = 0; i < groups; ++i)
    encoded[Index(assignment.sequence[i])] = 1 - static_cast<double>(i + 1) / static_cast<double>(groups + 1);
  for (int group = 0; group < costed_.num_groups; ++group) {
    const std::span<const std::int32_t> devices = DevicesOf(group);
    const auto chosen = std::find(devices.begin(), devices.end(), assignment.placement[Index(group)]);
    encoded[groups + Index(group)] =
        (static_cast<double>(chosen - devices.begin()) + 0.5) / static_cast<double>(devices.size());
  }
  return encoded;
}

}  // namespace millrace
