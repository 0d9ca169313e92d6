// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "millrace/policy/policy.h"

// A policy that is asked about every state once: for policies that are dear to ask, where many trajectories are drawn
// that pass through the same states.
namespace millrace {

// Answers as a clone of `policy` does, and keeps all answers, with all groups on offer and their devices, for as long
// as it lives: memory grows with the states it has seen. Its own clones start with none.
std::unique_ptr<PreparedPolicy> Remembering(const PreparedPolicy& policy);

}  // namespace millrace
