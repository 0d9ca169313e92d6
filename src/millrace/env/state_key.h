// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "millrace/env/state.h"

// What tells the states of one environment apart, however they were reached: the device of every group, and what each
// unit runs in which order.
namespace millrace {

using StateKey = std::vector<std::int32_t>;

// Equal for states alike and for no others. O(groups).
StateKey KeyOf(const State& state);

}  // namespace millrace
