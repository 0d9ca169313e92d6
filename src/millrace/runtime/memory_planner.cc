// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/memory_planner.h"

#include <algorithm>
#include <numeric>

#include "millrace/runtime/aligned_memory.h"

namespace millrace {
namespace {

bool EndsBefore(const BufferLife& first, const BufferLife& second) {
  for (std::size_t worker = 0; worker < first.dead.size(); ++worker) {
    if (first.dead[worker] > second.born[worker]) return false;
  }
  return true;
}

}  // namespace

bool InUseTogether(const BufferLife& a, const BufferLife& b) {
  return a.kept || b.kept || !(EndsBefore(a, b) || EndsBefore(b, a));
}

MemoryLayout PlanMemory(const std::vector<BufferLife>& buffers) {
  MemoryLayout layout;
  layout.offsets.assign(buffers.size(), 0);
  std::vector<std::size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return buffers[a].bytes > buffers[b].bytes; });
  std::vector<std::size_t> placed;  // by offset
  for (const std::size_t buffer : order) {
    const std::size_t bytes = AlignedSize(std::max<std::size_t>(buffers[buffer].bytes, 1));
    std::size_t offset = 0;
    for (const std::size_t other : placed) {
      if (layout.offsets[other] >= offset + bytes) break;
      const std::size_t end = layout.offsets[other] + AlignedSize(std::max<std::size_t>(buffers[other].bytes, 1));
      if (end > offset && InUseTogether(buffers[buffer], buffers[other])) offset = end;
    }
    layout.offsets[buffer] = offset;
    layout.bytes = std::max(layout.bytes, offset + bytes);
    const auto at = std::upper_bound(placed.begin(), placed.end(), offset, [&](std::size_t wanted, std::size_t other) {
      return wanted < layout.offsets[other];
    });
    placed.insert(at, buffer);
  }
  return layout;
}

}  // namespace millrace
