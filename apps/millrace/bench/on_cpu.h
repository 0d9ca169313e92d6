// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "millrace/verb.h"

// Robustness on this CPU: the candidates of one method at a time, chosen by the proxy and measured here.
namespace millrace::cli {

struct OnCpuOptions {
  bool quick = false;                // as optimize --quick
  std::vector<std::string> methods;  // empty: the usual ones
  std::vector<std::string> models;   // empty: every family
  std::string profile_cache;         // file; empty: none
};

// Prints "cpu means" and "cpu"; the exit code. Throws InvalidInput for a method there is not.
int RunOnCpu(const CommandLine& line, const OnCpuOptions& options);

}  // namespace millrace::cli
