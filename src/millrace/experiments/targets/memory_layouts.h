// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "millrace/experiments/table.h"
#include "millrace/formats/load.h"
#include "millrace/machine/machine.h"
#include "millrace/runtime/memory_planner.h"

// How near the blocks that buffers of programs lie in come to what no layout can take less than (LeastMemory): the
// largest buffers first, and after a search (runtime/memory_planner.h). Bytes.
namespace millrace {

struct MemoryLayoutOptions {
  std::vector<double> visits;  // of the search, one column each; none: as programs are laid out
};

// Buffers of one program or file.
struct LayoutCase {
  std::string name, plan;
  std::vector<BufferLife> buffers;
};

// Programs of a model on this host: on one processor, on all processors for every op, and under HEFT's plan. The model
// is not run.
std::vector<LayoutCase> ProgramsOf(const std::string& name, const LoadedGraph& loaded, const Machine& machine);

// One file of lifetimes, as google/minimalloc has them: a header and lines of id, first and last moment (this one not
// included), size. Sizes are multiplied by kMemoryAlignment, so that aligning them changes nothing. Throws
// InvalidInput.
LayoutCase ReadLifetimes(const std::string& path);

// "layouts": a row each.
Table LayoutTable(const std::vector<LayoutCase>& cases, const MemoryLayoutOptions& options);

}  // namespace millrace
