// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "millrace/train/go/problem.h"

// The problems that a training of GO names in its settings.
namespace millrace::cli {

// `workloads`: names of workloads/go_workloads.h ("gnmt-4", "gnmt-4-short"); "standard" and "short" are all of a kind.
// Those of the families `without` are left out. `machines`: presets, each workload on each; empty: each on the host
// with as many P100 as it is planned for. Throws InvalidInput for a name that is none.
std::vector<GoTrainingProblem> MakeGoProblems(const std::vector<std::string>& workloads,
                                              const std::vector<std::string>& machines,
                                              const std::vector<std::string>& without);

}  // namespace millrace::cli
