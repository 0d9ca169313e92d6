// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

// What a kernel may meet in its data while it runs: an index that names no element, or data that make more or fewer
// rows than the model states. Kernels do not throw; they note it here, go on with anything that is there, and the
// executor throws once the run is over.
namespace millrace {

class RunFault {
 public:
  // Any worker may call these at any time; what is noted first is kept. `node` outlives the run.
  void Note(const std::string& node, std::int64_t index, std::int64_t size) noexcept {
    Keep(Kind::kOneIndex, node, index, size);
  }
  void NoteRows(const std::string& node, std::int64_t found, std::int64_t stated) noexcept {
    Keep(Kind::kRowCount, node, found, stated);
  }

  // Between runs only.
  void Reset() { noted_ = false; }

  // After a run, when its workers have returned. Throws InvalidInput naming the node and both numbers.
  void ThrowIfNoted() const;

 private:
  enum class Kind { kOneIndex, kRowCount };

  void Keep(Kind kind, const std::string& node, std::int64_t met, std::int64_t stated) noexcept {
    if (noted_.exchange(true)) return;
    kind_ = kind;
    node_ = &node;
    met_ = met;
    stated_ = stated;
  }

  std::atomic<bool> noted_{false};
  Kind kind_ = Kind::kOneIndex;
  const std::string* node_ = nullptr;
  std::int64_t met_ = 0;
  std::int64_t stated_ = 0;
};

}  // namespace millrace
