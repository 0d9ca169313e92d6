// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "millrace/graph/computation_graph.h"

// Ops as people name them: by patterns as shells have them for files. `*` stands for any characters, `?` for one,
// `[ab]` for one of those. A name matches as a whole.
namespace millrace {

bool NameMatches(const std::string& pattern, const std::string& name);

// Ascending; empty where no name matches.
std::vector<OpId> OpsNamed(const ComputationGraph& graph, const std::string& pattern);

}  // namespace millrace
