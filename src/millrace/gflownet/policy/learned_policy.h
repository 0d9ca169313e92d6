// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "millrace/gflownet/policy/policy.h"
#include "millrace/network/weights.h"

// The policy that given weights are for. Their metadata say which architecture that is.
namespace millrace {

// Throws InvalidInput for an unknown architecture, version or shape.
std::unique_ptr<Policy> MakeLearnedPolicy(const Weights& weights);

// Reads the policy from a file. Throws InvalidInput, naming the file, as ReadWeights and MakeLearnedPolicy do.
std::unique_ptr<Policy> ReadLearnedPolicy(const std::string& path);

}  // namespace millrace
