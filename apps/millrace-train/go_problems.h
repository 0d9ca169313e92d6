// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "millrace/train/go/problem.h"
#include "millrace/workloads/go_corpus.h"

// The problems that a training of GO names in its settings.
namespace millrace::cli {

// `workloads`: names of workloads/go_workloads.h ("gnmt-4", "gnmt-4-short"); "standard" and "short" are all of a kind.
// Those of the families `without` are left out. `machines`: presets, each workload on each; empty: each on the host
// with as many P100 as it is planned for. Throws InvalidInput for a name that is none.
std::vector<GoTrainingProblem> MakeGoProblems(const std::vector<std::string>& workloads,
                                              const std::vector<std::string>& machines,
                                              const std::vector<std::string>& without);

// Adds `count` cases of workloads/go_corpus.h within the limits: those of seed 0 of which a placement by layers, or all
// of it on one device, fits in memory.
void AddGoCases(GoCasePurpose purpose, int count, const GoCaseLimits& limits, std::vector<GoTrainingProblem>& problems);

}  // namespace millrace::cli
