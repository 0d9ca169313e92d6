// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "millrace/optimize/optimize.h"

// The result of an optimisation for a terminal.
namespace millrace {

// A table of the best plan and the baselines, then a few lines of what to make of it. Ends in a newline.
std::string ResultText(const OptimizeResult& result);

}  // namespace millrace
