// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

// What a kernel may meet in its data while it runs: an index that names no element. Kernels do not throw; they note it
// here, go on with any element that is there, and the executor throws once the run is over.
namespace millrace {

class RunFault {
 public:
  // Any worker may call this at any time; the first index noted is kept. `node` outlives the run.
  void Note(const std::string& node, std::int64_t index, std::int64_t size) noexcept {
    if (noted_.exchange(true)) return;
    node_ = &node;
    index_ = index;
    size_ = size;
  }

  // Between runs only.
  void Reset() { noted_ = false; }

  // After a run, when its workers have returned. Throws InvalidInput naming the node and the index.
  void ThrowIfNoted() const;

 private:
  std::atomic<bool> noted_{false};
  const std::string* node_ = nullptr;
  std::int64_t index_ = 0;
  std::int64_t size_ = 0;
};

}  // namespace millrace
