// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/memory_check.h"

#include <algorithm>
#include <limits>

#include "millrace/graph/index.h"

namespace millrace {
namespace {

// A sum of bytes in another order differs by rounding, and no plan may seem to fit for that.
constexpr double kSummedOtherwise = 1 + 1e-9;

constexpr std::int32_t kNobody = -1;

}  // namespace

MemoryCheck::MemoryCheck(const CostedGraph& costed)
    : costed_(costed),
      ordered_(Index(costed.topology.num_memories), 0),
      place_(Index(costed.num_groups)),
      groups_(ordered_.size()),
      offset_(ordered_.size() + 1),
      first_(ordered_.size()),
      last_(ordered_.size()),
      at_most_(Index(costed.num_groups) + ordered_.size()),
      at_least_(at_most_.size()),
      weights_(ordered_.size()),
      all_the_time_(ordered_.size()),
      most_(ordered_.size()),
      least_(ordered_.size()),
      limited_(ordered_.size()),
      open_(ordered_.size()),
      peak_(ordered_.size()),
      may_add_(ordered_.size()) {
  const std::vector<int>& memory_of = costed.topology.memory_of;
  for (std::size_t memory = 0; memory < ordered_.size(); ++memory) {
    limited_[memory] = costed.topology.memory_bytes[memory] < std::numeric_limits<double>::infinity() ? 1 : 0;
    ordered_[memory] = std::count(memory_of.begin(), memory_of.end(), static_cast<int>(memory)) == 1 ? 1 : 0;
  }
}

bool MemoryCheck::Fits(const Assignment& assignment) {
  may_hold_.clear();
  return WholeFits(assignment);
}

bool MemoryCheck::WholeFits(const Assignment& assignment) {
  if (!costed_.limited_memory) return true;
  const ByOrder by_order = WheneverGroupsRun(assignment);
  if (by_order != ByOrder::kOpen) return by_order == ByOrder::kFits;
  if (!meter_) {
    simulator_.emplace(costed_);
    meter_.emplace(costed_);
  }
  simulator_->Run(assignment, timeline_);
  return meter_->FitIn(open_, assignment, timeline_);
}

bool MemoryCheck::FitsWith(const Assignment& assignment, std::span<const int> changed) {
  if (!costed_.limited_memory) return true;
  if (!may_hold_.empty() && HasRoomFor(assignment, changed)) return true;
  if (!WholeFits(assignment)) return false;
  Remember(assignment);
  return true;
}

bool MemoryCheck::HasRoomFor(const Assignment& assignment, std::span<const int> changed) {
  const std::vector<int>& memory_of = costed_.topology.memory_of;
  std::fill(may_add_.begin(), may_add_.end(), 0.0);
  for (const int group : changed) {
    const std::int32_t here = memory_of[Index(assignment.placement[Index(group)])];
    const std::int32_t before = home_[Index(group)];
    may_add_[Index(here)] += touches_[Index(group)];
    if (before != here) may_add_[Index(before)] += touches_[Index(group)];
  }
  for (std::size_t memory = 0; memory < may_add_.size(); ++memory) {
    const double most = may_hold_[memory] + may_add_[memory];
    if (most * kSummedOtherwise > costed_.topology.memory_bytes[memory]) return false;
  }
  for (std::size_t memory = 0; memory < may_add_.size(); ++memory) may_hold_[memory] += may_add_[memory];
  for (const int group : changed) home_[Index(group)] = memory_of[Index(assignment.placement[Index(group)])];
  return true;
}

// A plan that fits, of which every peak is known.
void MemoryCheck::Remember(const Assignment& assignment) {
  if (touches_.empty()) {
    touches_ = costed_.weight_bytes;
    for (const GroupTensor& tensor : costed_.tensors) {
      if (tensor.producer >= 0) touches_[Index(tensor.producer)] += tensor.bytes;
      for (const std::int32_t reader : costed_.Readers(tensor)) touches_[Index(reader)] += tensor.bytes;
    }
  }
  may_hold_ = peak_;
  home_.resize(assignment.placement.size());
  for (std::size_t group = 0; group < home_.size(); ++group)
    home_[group] = costed_.topology.memory_of[Index(assignment.placement[group])];
}

void MemoryCheck::Hold(double* changes, std::int32_t from, std::int32_t to, double bytes) {
  changes[from] += bytes;
  changes[to + 1] -= bytes;
}

MemoryCheck::ByOrder MemoryCheck::WheneverGroupsRun(const Assignment& assignment) {
  const int memories = costed_.topology.num_memories;
  const auto memory_of = [&](int group) {
    return costed_.topology.memory_of[Index(assignment.placement[Index(group)])];
  };
  std::fill(groups_.begin(), groups_.end(), 0);
  std::fill(weights_.begin(), weights_.end(), 0.0);
  for (const int group : assignment.sequence) {
    const int memory = memory_of(group);
    place_[Index(group)] = groups_[Index(memory)]++;
    weights_[Index(memory)] += costed_.weight_bytes[Index(group)];
  }
  for (int memory = 0; memory < memories; ++memory) {
    if (weights_[Index(memory)] > costed_.topology.memory_bytes[Index(memory)] * kSummedOtherwise)
      return ByOrder::kOverflows;
  }
  // One more than its groups: what the last one holds ends there.
  for (int memory = 0; memory < memories; ++memory)
    offset_[Index(memory) + 1] = offset_[Index(memory)] + groups_[Index(memory)] + 1;
  std::fill(at_most_.begin(), at_most_.end(), 0.0);
  std::fill(at_least_.begin(), at_least_.end(), 0.0);
  std::fill(all_the_time_.begin(), all_the_time_.end(), 0.0);
  for (const GroupTensor& tensor : costed_.tensors) {
    std::fill(last_.begin(), last_.end(), kNobody);
    for (const std::int32_t reader : costed_.Readers(tensor)) {
      const auto memory = Index(memory_of(reader));
      const std::int32_t place = place_[Index(reader)];
      first_[memory] = last_[memory] == kNobody ? place : std::min(first_[memory], place);
      last_[memory] = std::max(last_[memory], place);
    }
    const int home = tensor.producer < 0 ? -1 : memory_of(tensor.producer);
    for (int memory = 0; memory < memories; ++memory) {
      const auto m = Index(memory);
      if (limited_[m] == 0 || (memory != home && last_[m] == kNobody)) continue;
      if (ordered_[m] == 0) {
        all_the_time_[m] += tensor.bytes;
        continue;
      }
      double* const most = at_most_.data() + offset_[m];
      double* const least = at_least_.data() + offset_[m];
      if (memory == home) {
        const std::int32_t made = place_[Index(tensor.producer)];
        const std::int32_t last = tensor.output ? groups_[m] - 1 : std::max(made, last_[m]);
        Hold(most, made, last, tensor.bytes);
        Hold(least, made, last, tensor.bytes);
      } else {
        Hold(most, 0, last_[m], tensor.bytes);
        Hold(least, tensor.producer < 0 ? 0 : first_[m], last_[m], tensor.bytes);
      }
    }
  }
  return Judge(assignment);
}

MemoryCheck::ByOrder MemoryCheck::Judge(const Assignment& assignment) {
  const std::vector<double>& capacity = costed_.topology.memory_bytes;
  for (std::size_t memory = 0; memory < capacity.size(); ++memory) {
    most_[memory] = weights_[memory] + all_the_time_[memory];
    least_[memory] = weights_[memory];
    open_[memory] = most_[memory] * kSummedOtherwise > capacity[memory] ? 1 : 0;
    peak_[memory] = most_[memory];
  }
  for (const int group : assignment.sequence) {
    const int device = assignment.placement[Index(group)];
    const auto memory = Index(costed_.topology.memory_of[Index(device)]);
    const auto at = Index(offset_[memory] + place_[Index(group)]);
    most_[memory] += at_most_[at];
    least_[memory] += at_least_[at];
    peak_[memory] = std::max(peak_[memory], most_[memory]);
    if (most_[memory] * kSummedOtherwise > capacity[memory]) open_[memory] = 1;
    // What a group holds that takes no time need not be there all at once.
    if (least_[memory] > capacity[memory] * kSummedOtherwise && costed_.Seconds(group, device) > 0)
      return ByOrder::kOverflows;
  }
  const bool open = std::any_of(open_.begin(), open_.end(), [](char memory) { return memory != 0; });
  return open ? ByOrder::kOpen : ByOrder::kFits;
}

bool FitsInMemory(const CostedGraph& costed, const Assignment& assignment) {
  return !costed.limited_memory || MemoryCheck(costed).Fits(assignment);
}

}  // namespace millrace
