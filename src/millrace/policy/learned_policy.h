// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "millrace/policy/policy.h"
#include "millrace/policy/weights.h"

// The policy that given weights are for, of whichever architecture they say they are.
namespace millrace {

// Throws InvalidInput for an architecture, version or shape that is not known.
std::unique_ptr<Policy> MakeLearnedPolicy(const Weights& weights);

// From a file, which every complaint names. Throws InvalidInput as ReadWeights does, too.
std::unique_ptr<Policy> ReadLearnedPolicy(const std::string& path);

}  // namespace millrace
