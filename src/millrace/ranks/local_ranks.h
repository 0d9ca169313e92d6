// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "millrace/ranks/ranks.h"

// Ranks as objects of one process, for threads of it: what MPI does, without MPI.
namespace millrace::mpi {

// As many ranks, which may be destroyed in any order: what is sent to one that is gone is lost, as with a dead process.
std::vector<std::unique_ptr<Ranks>> MakeLocalRanks(int size);

}  // namespace millrace::mpi
