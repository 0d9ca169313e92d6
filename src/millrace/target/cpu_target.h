// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "millrace/target/target.h"

// The target "cpu": this host, executing the model with Millrace's own runtime.
//
// Load compiles the plan, fills the model's inputs with seeded random data and runs it once to warm up. Run is one
// timed run (settled_run.h), in seconds. All plans loaded from one target share its pinned workers and its reordered
// weights; their tensors are their own. Runs of one target exclude each other.
namespace millrace {

// The context's graph, machine and model are needed and outlive the target and its plans. Throws InvalidInput without a
// model, with ops the runtime lacks, or on a machine whose units are not processors this process may run on.
std::unique_ptr<Target> MakeCpuTarget(const TargetContext& context);

}  // namespace millrace
