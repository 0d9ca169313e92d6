// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/ranks/ranks.h"

// What the loadable module millrace-mpi.so offers, by name.
extern "C" {

// kRanksInterface of the headers it was made with.
int MillraceRanksInterface();

// Takes part in the launcher's set of ranks: MPI is started, and ended by the object's destructor. Null where that
// fails, and *reason then says why. At most once in a process.
millrace::mpi::Ranks* MillraceJoinRanks(const char** reason);
}
