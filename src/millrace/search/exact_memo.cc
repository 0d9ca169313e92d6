// SPDX-License-Identifier: Apache-2.0
#include "millrace/search/exact_memo.h"

#include <utility>

namespace millrace {

std::size_t ExactMemo::HashOf(const GroupSet& set) {
  std::uint64_t hash = set.bits[0] * 0x9e3779b97f4a7c15u ^ (set.bits[1] + 0x7f4a7c15u) * 0xbf58476d1ce4e5b9u;
  hash ^= hash >> 29;
  hash *= 0x94d049bb133111ebu;
  return static_cast<std::size_t>(hash ^ hash >> 32);
}

const ExactMemo::Slot* ExactMemo::Find(const GroupSet& set) const {
  std::size_t at = HashOf(set) & (slots_.size() - 1);
  while (slots_[at].newest >= 0 && slots_[at].set != set) at = (at + 1) & (slots_.size() - 1);
  return &slots_[at];
}

bool ExactMemo::Dominated(const GroupSet& set, const MemoLimits& limits, std::size_t devices) const {
  const Slot& slot = *Find(set);
  const auto frees = limits.latest_free.size();
  const std::size_t finishes = static_cast<std::size_t>(slot.num_times) - frees;
  constexpr int kMostLooks = 512;
  std::int32_t at = slot.newest;
  for (int looks = 0; at >= 0 && looks < kMostLooks; at = entries_[static_cast<std::size_t>(at)].older, ++looks) {
    const Entry& entry = entries_[static_cast<std::size_t>(at)];
    const double* times = times_.data() + entry.times;
    const std::uint8_t* on = devices_.data() + entry.devices;
    bool within = true;
    for (std::size_t i = 0; within && i < frees; ++i) within = times[i] <= limits.latest_free[i];
    for (std::size_t i = 0; within && i < static_cast<std::size_t>(slot.num_devices); ++i)
      within = (i < finishes ? times[frees + i] : 0.0) <= limits.latest_finish[i * devices + on[i]];
    if (within) return true;
  }
  return false;
}

void ExactMemo::Keep(const GroupSet& set, const MemoState& state) {
  if (times_.size() * sizeof(double) + devices_.size() + entries_.size() * sizeof(Entry) +
          slots_.size() * sizeof(Slot) >=
      most_bytes_)
    Forget();
  if (2 * sets_ >= slots_.size()) Grow();
  Slot& slot = const_cast<Slot&>(*Find(set));
  if (slot.newest < 0) {
    ++sets_;
    slot.set = set;
    slot.num_times = static_cast<std::int32_t>(state.times.size());
    slot.num_devices = static_cast<std::int32_t>(state.devices.size());
  }
  entries_.push_back(
      {slot.newest, static_cast<std::uint32_t>(times_.size()), static_cast<std::uint32_t>(devices_.size())});
  slot.newest = static_cast<std::int32_t>(entries_.size() - 1);
  times_.insert(times_.end(), state.times.begin(), state.times.end());
  devices_.insert(devices_.end(), state.devices.begin(), state.devices.end());
}

void ExactMemo::Forget() {
  constexpr std::size_t kFirstSlots = 1024;
  slots_.assign(kFirstSlots, {});
  sets_ = 0;
  entries_.clear();
  times_.clear();
  devices_.clear();
}

void ExactMemo::Grow() {
  std::vector<Slot> before(slots_.size() * 2);
  before.swap(slots_);
  for (const Slot& slot : before) {
    if (slot.newest >= 0) const_cast<Slot&>(*Find(slot.set)) = slot;
  }
}

}  // namespace millrace
