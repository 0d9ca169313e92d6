// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/memory_check.h"

#include <algorithm>

#include "millrace/graph/index.h"

namespace millrace {
namespace {

// A sum of bytes in another order differs by rounding, and no plan may seem to fit for that.
constexpr double kRounding = 1 + 1e-9;

constexpr std::int32_t kNobody = -1;

}  // namespace

MemoryCheck::MemoryCheck(const CostedGraph& costed)
    : costed_(costed),
      ordered_(Index(costed.topology.num_memories), 0),
      place_(Index(costed.num_groups)),
      groups_(ordered_.size()),
      offset_(ordered_.size() + 1),
      last_(ordered_.size()),
      changes_(Index(costed.num_groups) + ordered_.size()),
      always_(ordered_.size()) {
  const std::vector<int>& memory_of = costed.topology.memory_of;
  for (std::size_t memory = 0; memory < ordered_.size(); ++memory)
    ordered_[memory] = std::count(memory_of.begin(), memory_of.end(), static_cast<int>(memory)) == 1 ? 1 : 0;
}

bool MemoryCheck::Fits(const Assignment& assignment) {
  if (!costed_.limited_memory || FitsWheneverGroupsRun(assignment)) return true;
  if (!meter_) {
    simulator_.emplace(costed_);
    meter_.emplace(costed_);
  }
  simulator_->Run(assignment, timeline_);
  return millrace::Fits(costed_, meter_->Measure(assignment, timeline_));
}

void MemoryCheck::Hold(int memory, std::int32_t from, std::int32_t to, double bytes) {
  if (ordered_[Index(memory)] == 0) {
    always_[Index(memory)] += bytes;
    return;
  }
  double* const changes = changes_.data() + offset_[Index(memory)];
  changes[from] += bytes;
  changes[to + 1] -= bytes;
}

bool MemoryCheck::FitsWheneverGroupsRun(const Assignment& assignment) {
  const int memories = costed_.topology.num_memories;
  const auto memory_of = [&](int group) {
    return costed_.topology.memory_of[Index(assignment.placement[Index(group)])];
  };
  std::fill(groups_.begin(), groups_.end(), 0);
  std::fill(always_.begin(), always_.end(), 0.0);
  for (const int group : assignment.sequence) {
    const int memory = memory_of(group);
    place_[Index(group)] = groups_[Index(memory)]++;
    always_[Index(memory)] += costed_.weight_bytes[Index(group)];
  }
  // One more than its groups: what the last one holds ends there.
  for (int memory = 0; memory < memories; ++memory)
    offset_[Index(memory) + 1] = offset_[Index(memory)] + groups_[Index(memory)] + 1;
  std::fill(changes_.begin(), changes_.end(), 0.0);
  for (const GroupTensor& tensor : costed_.tensors) {
    std::fill(last_.begin(), last_.end(), kNobody);
    for (const std::int32_t reader : costed_.Readers(tensor)) {
      std::int32_t& last = last_[Index(memory_of(reader))];
      last = std::max(last, place_[Index(reader)]);
    }
    const int home = tensor.producer < 0 ? -1 : memory_of(tensor.producer);
    if (home >= 0) {
      const std::int32_t made = place_[Index(tensor.producer)];
      Hold(home, made, tensor.output ? groups_[Index(home)] - 1 : std::max(made, last_[Index(home)]), tensor.bytes);
    }
    for (int memory = 0; memory < memories; ++memory) {
      if (memory != home && last_[Index(memory)] != kNobody) Hold(memory, 0, last_[Index(memory)], tensor.bytes);
    }
  }
  for (int memory = 0; memory < memories; ++memory) {
    double held = always_[Index(memory)];
    const double most = costed_.topology.memory_bytes[Index(memory)];
    for (std::int32_t at = offset_[Index(memory)]; at < offset_[Index(memory) + 1]; ++at) {
      held += changes_[Index(at)];
      if (held * kRounding > most) return false;
    }
  }
  return true;
}

bool FitsInMemory(const CostedGraph& costed, const Assignment& assignment) {
  return !costed.limited_memory || MemoryCheck(costed).Fits(assignment);
}

}  // namespace millrace
