// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

// Weights as kernels want them (reordered, sliced for a gang's worker), shared by all programs of one model, so that
// sixteen plans ready to run hold them once. A buffer lives as long as some kernel holds it: the cache itself keeps
// nothing alive. Safe to use from several threads; one buffer is filled at a time.
namespace millrace {

class WeightCache {
 public:
  // The buffer under `key`: the one somebody still holds, or a new one of `bytes` bytes, zeroed and 64-byte aligned,
  // that `fill` writes (without asking the cache itself). The key says everything the content depends on: node or
  // value, layout, slice. What `fill` throws is passed on and nothing is kept. Throws InvalidInput where the key is
  // held with another size.
  std::shared_ptr<const std::byte> Get(const std::string& key, std::size_t bytes,
                                       const std::function<void(std::byte*)>& fill);

  // Bytes in buffers that somebody holds.
  std::size_t bytes() const;

  // Those buffers.
  std::vector<std::span<const std::byte>> Held() const;

 private:
  struct Entry {
    std::weak_ptr<const std::byte> buffer;
    std::size_t bytes = 0;
  };

  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;
};

}  // namespace millrace
