// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "millrace/gflownet/policy/policy.h"

// A policy that asks another one about every state only once. It is for costly policies, where many trajectories pass
// through the same states.
namespace millrace {

// Answers as a clone of `policy` does and keeps the answers for all groups on offer and their devices as long as it
// lives: memory grows with the number of states. Its clones start with no answers.
std::unique_ptr<PreparedPolicy> Remembering(const PreparedPolicy& policy);

}  // namespace millrace
