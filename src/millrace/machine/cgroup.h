// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

// What the control groups this process lives in allow it.
namespace millrace {

struct CgroupLimits {
  std::optional<double> processors;    // CPU time per wall time, possibly fractional
  std::optional<double> memory_bytes;  // RAM
};

// The tightest limit of our group and all above it, of versions 1 and 2; nothing where there is none or nothing can be
// read. `root` goes before every path ("" for the real ones). Source: the Linux kernel's cgroup-v1 and cgroup-v2
// documentation.
CgroupLimits ReadCgroupLimits(const std::string& root);

}  // namespace millrace
