// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/heuristics/group_tensors.h"

// How full each memory will be, judged while a schedule is being built and times are not final. Bytes.
namespace millrace {

// Counts the weights placed on a memory and the tensors that lie there in the order of placing: a tensor arrives with
// its producer or first reader there and leaves once all its readers have been placed. That is near the truth where
// groups are placed about in the order they run; FitsInMemory has the last word.
class MemoryLedger {
 public:
  // `costed` must outlive the ledger. Cheap and idle where no memory has a capacity.
  explicit MemoryLedger(const CostedGraph& costed);

  void Clear();

  // How full the device's memory would be with the group on it: bytes / capacity, > 1 is too much. Of a colocation
  // that has no device yet, the weights of all members count.
  double Fullness(int group, int device) const;

  // Bytes that placing the group on the device would add to what lies there while it runs; 0 where no memory is
  // limited.
  double Added(int group, int device) const;

  void Place(int group, int device);

 private:
  std::size_t At(std::int32_t tensor, int memory) const {
    return static_cast<std::size_t>(tensor) * static_cast<std::size_t>(costed_.topology.num_memories) +
           static_cast<std::size_t>(memory);
  }
  double NewWeights(int group) const;
  void Release(std::int32_t tensor);

  const CostedGraph& costed_;
  GroupTensors tensors_;
  std::vector<double> colocation_weights_;
  std::vector<std::uint8_t> colocation_placed_;
  std::vector<std::uint8_t> present_;  // by tensor and memory
  std::vector<std::int32_t> unplaced_readers_;
  std::vector<double> used_;  // by memory
};

}  // namespace millrace
