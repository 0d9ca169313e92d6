// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

// Running somebody's program: bounded in time and in output, and leaving nothing behind. Seconds, bytes.
namespace millrace {

struct ChildLimits {
  double seconds = 300;
  std::size_t output_bytes = 16U << 20;  // on either stream
  std::size_t kept_bytes = 64U << 10;    // of each stream's end
};

enum class ChildEnding { kExited, kKilled, kTimedOut, kTooMuchOutput, kNotStarted };

struct ChildResult {
  ChildEnding ending = ChildEnding::kNotStarted;
  int code = 0;        // the exit status, the signal, or the error number where it could not be started
  std::string output;  // the last part of its standard output
  std::string errors;  // the same of its standard error
};

// Runs words[0], looked up in PATH unless it has a slash, in a process group of its own, with standard input empty and
// signals as by default. However it ends, the rest of the group is killed and the program waited for; no descriptor
// stays open. Throws Interrupted, after the same cleaning up, when the user asks to stop.
ChildResult RunChild(const std::vector<std::string>& words, const ChildLimits& limits);

}  // namespace millrace
