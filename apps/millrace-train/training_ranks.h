// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "millrace/ranks/ranks.h"

// A training that a launcher has started on several ranks: mpirun -n 4 millrace train ...
namespace millrace::cli {

// Does the work with the ranks of the launcher that started this process, null where it is alone. The work is the same
// on all of them; rank 0 alone writes and prints. Where it fails, rank 0 says why and the launcher ends the others; one
// that failed by itself says so after some seconds. Throws what the work throws.
int WorkWithRanks(const std::function<int(mpi::Ranks* ranks)>& work);

// Is this process to keep silent and write nothing?
bool IsFollower(const mpi::Ranks* ranks);

// Throws InvalidInput where a launcher started this process as one of several: each would write the same files.
void RefuseRanks();

}  // namespace millrace::cli
