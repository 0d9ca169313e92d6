// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/memory_halves.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "millrace/runtime/aligned_memory.h"

namespace millrace {
namespace {

// Each as large as its first buffer, and for that one's kind.
struct Slot {
  std::int64_t begin = 0;
  std::int64_t size = 0;
  Writers writers = Writers::kHalves;
  int taken_for = -1;  // the last buffer that it was taken for
};

// By buffer: its slot, or -1.
std::vector<int> FillSlots(const PackingProblem& problem, const std::vector<Writers>& writers,
                           std::vector<Slot>& slots) {
  std::vector<int> slot_of(problem.sizes.size(), -1);
  for (const int buffer : LargestFirst(problem)) {
    const auto at = static_cast<std::size_t>(buffer);
    if (writers[at] == Writers::kOne) continue;
    for (const int other : problem.conflicts[at]) {
      const int slot = slot_of[static_cast<std::size_t>(other)];
      if (slot >= 0) slots[static_cast<std::size_t>(slot)].taken_for = buffer;
    }
    const auto free = std::find_if(slots.begin(), slots.end(), [&](const Slot& slot) {
      return slot.writers == writers[at] && slot.taken_for != buffer;
    });
    slot_of[at] = static_cast<int>(free - slots.begin());
    if (free != slots.end()) continue;
    const std::int64_t end = slots.empty() ? 0 : slots.back().begin + slots.back().size;
    slots.push_back({end, problem.sizes[at], writers[at]});
  }
  return slot_of;
}

}  // namespace

Packing PackByHalves(const PackingProblem& problem, const std::vector<Writers>& writers) {
  constexpr auto kLine = static_cast<std::int64_t>(kMemoryAlignment);
  std::vector<Slot> slots;
  const std::vector<int> slot_of = FillSlots(problem, writers, slots);
  std::vector<std::int64_t> offsets(problem.sizes.size(), kUnplaced);
  for (std::size_t buffer = 0; buffer < offsets.size(); ++buffer) {
    if (slot_of[buffer] < 0) continue;
    const Slot& slot = slots[static_cast<std::size_t>(slot_of[buffer])];
    offsets[buffer] = slot.begin + (slot.size - problem.sizes[buffer]) / 2 / kLine * kLine;
  }
  return FirstFit(problem, std::move(offsets));
}

}  // namespace millrace
