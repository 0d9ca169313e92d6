// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/memory_ledger.h"

#include <limits>

namespace millrace {

MemoryLedger::MemoryLedger(const CostedGraph& costed) : costed_(costed) {
  if (!costed.limited_memory) return;
  tensors_ = GroupTensors(costed);
  colocation_weights_.assign(static_cast<std::size_t>(costed.num_colocations), 0.0);
  for (std::size_t g = 0; g < costed.colocation.size(); ++g) {
    if (costed.colocation[g] >= 0)
      colocation_weights_[static_cast<std::size_t>(costed.colocation[g])] += costed.weight_bytes[g];
  }
  Clear();
}

void MemoryLedger::Clear() {
  if (!costed_.limited_memory) return;
  const auto memories = static_cast<std::size_t>(costed_.topology.num_memories);
  used_.assign(memories, 0.0);
  present_.assign(costed_.tensors.size() * memories, 0);
  colocation_placed_.assign(colocation_weights_.size(), 0);
  unplaced_readers_.resize(costed_.tensors.size());
  for (std::size_t t = 0; t < costed_.tensors.size(); ++t) unplaced_readers_[t] = costed_.tensors[t].num_readers;
}

double MemoryLedger::NewWeights(int group) const {
  const std::int32_t colocation = costed_.colocation[static_cast<std::size_t>(group)];
  if (colocation < 0) return costed_.weight_bytes[static_cast<std::size_t>(group)];
  return colocation_placed_[static_cast<std::size_t>(colocation)] != 0
             ? 0.0
             : colocation_weights_[static_cast<std::size_t>(colocation)];
}

double MemoryLedger::Added(int group, int device) const {
  if (!costed_.limited_memory) return 0;
  const int memory = costed_.topology.memory_of[static_cast<std::size_t>(device)];
  double bytes = NewWeights(group);
  for (const std::int32_t tensor : tensors_.MadeBy(group))
    bytes += costed_.tensors[static_cast<std::size_t>(tensor)].bytes;
  for (const std::int32_t tensor : tensors_.ReadBy(group)) {
    if (present_[At(tensor, memory)] == 0) bytes += costed_.tensors[static_cast<std::size_t>(tensor)].bytes;
  }
  return bytes;
}

double MemoryLedger::Fullness(int group, int device) const {
  if (!costed_.limited_memory) return 0;
  const int memory = costed_.topology.memory_of[static_cast<std::size_t>(device)];
  const double capacity = costed_.topology.memory_bytes[static_cast<std::size_t>(memory)];
  if (capacity == std::numeric_limits<double>::infinity()) return 0;
  const double bytes = used_[static_cast<std::size_t>(memory)] + Added(group, device);
  if (bytes <= 0) return 0;
  return capacity > 0 ? bytes / capacity : std::numeric_limits<double>::infinity();
}

void MemoryLedger::Release(std::int32_t tensor) {
  const GroupTensor& entry = costed_.tensors[static_cast<std::size_t>(tensor)];
  if (entry.output) return;
  for (int memory = 0; memory < costed_.topology.num_memories; ++memory) {
    std::uint8_t& present = present_[At(tensor, memory)];
    if (present != 0) used_[static_cast<std::size_t>(memory)] -= entry.bytes;
    present = 0;
  }
}

void MemoryLedger::Place(int group, int device) {
  if (!costed_.limited_memory) return;
  const int memory = costed_.topology.memory_of[static_cast<std::size_t>(device)];
  double& used = used_[static_cast<std::size_t>(memory)];
  used += NewWeights(group);
  const std::int32_t colocation = costed_.colocation[static_cast<std::size_t>(group)];
  if (colocation >= 0) colocation_placed_[static_cast<std::size_t>(colocation)] = 1;
  for (const std::int32_t tensor : tensors_.MadeBy(group)) {
    present_[At(tensor, memory)] = 1;
    used += costed_.tensors[static_cast<std::size_t>(tensor)].bytes;
    if (unplaced_readers_[static_cast<std::size_t>(tensor)] == 0) Release(tensor);
  }
  for (const std::int32_t tensor : tensors_.ReadBy(group)) {
    std::uint8_t& present = present_[At(tensor, memory)];
    if (present == 0) used += costed_.tensors[static_cast<std::size_t>(tensor)].bytes;
    present = 1;
    if (--unplaced_readers_[static_cast<std::size_t>(tensor)] == 0) Release(tensor);
  }
}

}  // namespace millrace
