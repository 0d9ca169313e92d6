// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>

// Work that may crash, hang or swell, done in a forked child.
namespace millrace {

struct ForkLimits {
  double most_seconds = 60;
  std::size_t most_bytes = std::size_t{4} << 30;  // that the child may take beyond what we hold already
};

// Runs `work` in a child process and returns the string it returns. The child writes nothing to our terminal and ends
// with us. `what` names the work in complaints. Throws InvalidInput with the message of an exception that `work` threw,
// and where the child died or took too long; WorkFailed where there can be no child; Interrupted on Ctrl-C.
std::string RunInChild(const std::string& what, const ForkLimits& limits, const std::function<std::string()>& work);

}  // namespace millrace
