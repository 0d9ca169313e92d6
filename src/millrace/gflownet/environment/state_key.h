// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "millrace/gflownet/environment/state.h"

// Keys of states. A key has the device of every group and the chain of every unit, so it tells the states of one
// environment apart, however they were reached.
namespace millrace {

using StateKey = std::vector<std::int32_t>;

// Equal for equal states and for no others. O(groups).
StateKey KeyOf(const State& state);

}  // namespace millrace
