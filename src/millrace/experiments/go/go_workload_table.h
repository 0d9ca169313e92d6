// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "millrace/experiments/table.h"
#include "millrace/workloads/go_workloads.h"

// How large the workloads of the GO paper are, before anybody plans them.
namespace millrace {

// One table, "workloads", a row each: ops and tensors; flops; bytes of weights; the peak of a single device that runs
// all ops in their order, however large its memory; seconds of all ops one by one, and of the longest path, as a P100
// of the preset `p100xN` would take.
std::vector<Table> GoWorkloadTable(const std::vector<GoWorkload>& workloads,
                                   const std::function<void(int, int)>& progress);

}  // namespace millrace
