// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/planning/registry.h"

// The searches as planners: they improve on plans for as long as they may.
namespace millrace {

// Adds brkga, anneal, exact.
void AddSearches(PlannerRegistry& registry);

}  // namespace millrace
