// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "millrace/ranks/ranks.h"

// The ranks of an MPI launcher (mpirun, srun). MPI is linked to a library of its own, millrace-mpi.so, which is loaded
// when it is asked for: the command starts as fast without, and runs where there is no MPI.
namespace millrace::mpi {

// Looked for beside the executable, in lib/millrace under its prefix, where it was installed, and in the folder
// MILLRACE_MPI names. To be destroyed before main ends, by the thread that calls this. Throws InvalidInput where there
// is none or it is of another build, WorkFailed where MPI cannot start.
std::unique_ptr<Ranks> JoinMpiRanks();

// Has a launcher (mpirun, or srun with PMI or PMIx) started this process as one of several?
bool StartedWithOthers();

}  // namespace millrace::mpi
