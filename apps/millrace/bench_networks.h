// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "millrace/verb.h"

// The experiment "networks": whole models on this CPU, usual orders against the best plan found.
namespace millrace::cli {

struct NetworksOptions {
  std::string data;
  std::vector<std::string> models;
  std::string profile_cache;
  bool quick = false;
};

// Prints a Markdown table, or with --json an object with the same figures; one row per model: sequential, all-cores,
// heft and best medians of interleaved runs, the interval of all-cores / best, how well the proxy ranked, and whether
// the outputs of the best plan are right (output_check.h). Throws WorkFailed, after the table, where some are not.
int BenchNetworks(const CommandLine& line, const NetworksOptions& options);

}  // namespace millrace::cli
