// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/weight_cache.h"

#include <fmt/core.h>

#include "millrace/errors/errors.h"
#include "millrace/runtime/aligned_memory.h"

namespace millrace {

std::shared_ptr<const std::byte> WeightCache::Get(const std::string& key, std::size_t bytes,
                                                  const std::function<void(std::byte*)>& fill) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[key];
  if (std::shared_ptr<const std::byte> held = entry.buffer.lock()) {
    if (entry.bytes == bytes) return held;
    throw InvalidInput(
        fmt::format("weights '{}' were prepared as {} bytes and are now asked for as {}", key, entry.bytes, bytes));
  }
  const std::shared_ptr<std::byte> made = AllocateAligned(bytes);
  fill(made.get());
  entry = {made, bytes};
  return made;
}

std::size_t WeightCache::bytes() const {
  std::size_t total = 0;
  for (const std::span<const std::byte> buffer : Held()) total += buffer.size();
  return total;
}

std::vector<std::span<const std::byte>> WeightCache::Held() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::span<const std::byte>> held;
  for (const auto& [key, entry] : entries_) {
    if (const std::shared_ptr<const std::byte> buffer = entry.buffer.lock())
      held.emplace_back(buffer.get(), entry.bytes);
  }
  return held;
}

}  // namespace millrace
