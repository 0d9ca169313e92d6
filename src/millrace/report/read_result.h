// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "millrace/optimize/optimize.h"

// A finished optimisation, read back from the folder it left behind (write.h).
namespace millrace {

// What its report needs: result.json, graph.json, plan.json, baselines/NAME.plan.json, and challenger.plan.json where
// there is one. Plans of other candidates are not kept and stay empty. Throws InvalidInput, naming the file: missing,
// damaged, or not of this run.
OptimizeResult ReadResult(const std::string& folder);

}  // namespace millrace
