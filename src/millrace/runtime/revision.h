// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

// Which runtime a time was measured with: times of an older one say little about what this one takes.
namespace millrace {

// Raise it with every change that makes some group of ops run at another speed: kernels, which groups share a
// primitive, layouts, threads, or how target/profile_groups.h takes a time. Measured times kept on disk are then
// measured anew.
inline constexpr int kKernelRevision = 11;

// "millrace 0.1.0, kernels 1, oneDNN 2.6.3"; the last is the library that was loaded.
std::string RuntimeRevision();

}  // namespace millrace
