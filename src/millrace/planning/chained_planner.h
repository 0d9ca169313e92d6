// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "millrace/planning/planner.h"

// Several planners as one.
namespace millrace {

// Offers what each of the planners offers, in turn, each with a generator of its own. Samples, iterations and seconds
// of a budget are for each of them.
std::unique_ptr<Planner> MakeChainedPlanner(std::string name, std::vector<std::shared_ptr<const Planner>> planners);

}  // namespace millrace
