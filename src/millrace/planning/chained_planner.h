// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "millrace/planning/planner.h"

// Several planners as one.
namespace millrace {

// Offers what each of the planners offers, in turn, each with a generator of its own. Samples and iterations of a
// budget are for each of them, seconds for all together: once they are gone, or `stop` is
// asked for, and there is an offer, the rest stay unasked.
std::unique_ptr<Planner> MakeChainedPlanner(std::string name, std::vector<std::shared_ptr<const Planner>> planners,
                                            std::stop_token stop = {});

}  // namespace millrace
