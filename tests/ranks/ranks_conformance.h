// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "millrace/ranks/ranks.h"

namespace millrace::testing {

// What every implementation of Ranks promises, tried by all ranks of one set at once: each calls this. What is wrong as
// this rank sees it; empty if nothing is.
std::string FaultOfRanks(mpi::Ranks& ranks);

// The same of what processes promise besides: a short message does not wait behind all of a long one of another tag, so
// that signs of life keep coming.
std::string FaultOfOvertaking(mpi::Ranks& ranks);

}  // namespace millrace::testing
