// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "millrace/optimize/optimize.h"

namespace millrace::testing {

// A finished run over 40 ops on three devices; the first op has this name.
OptimizeResult SmallResult(const std::string& op_name);

}  // namespace millrace::testing
