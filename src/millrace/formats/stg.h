// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "millrace/graph/computation_graph.h"

// Task graphs of the Standard Task Graph Set (Tobita, Kasahara, "A standard task graph set for fair evaluation of
// multiprocessor scheduling algorithms", 2002).
namespace millrace {

// The first line is the number of tasks n; then n + 2 lines, task 0 to n + 1, each: task, processing time, number of
// predecessors, the predecessors. A line that starts with '#' ends the file. Tasks 0 and n + 1 are the format's dummy
// entry and exit, which take no time; they are left out, so task i is op i - 1. One unit of time is one second, and
// precedence costs nothing: tensors of 0 bytes. Throws InvalidInput naming the line.
ComputationGraph ParseStg(std::string_view text, const std::string& name);

}  // namespace millrace
