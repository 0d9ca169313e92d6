// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "millrace/graph/computation_graph.h"

// The millrace.graph format, version 1 (docs/formats.md).
namespace millrace {

// Throws InvalidInput saying which member of which op or tensor is wrong.
ComputationGraph ParseGraphJson(std::string_view text);
std::string GraphJson(const ComputationGraph& graph);

}  // namespace millrace
