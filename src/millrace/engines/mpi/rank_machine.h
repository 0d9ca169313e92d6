// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/engines/mpi/leader.h"
#include "millrace/machine/machine.h"

// The ranks as a machine to plan for. Seconds, bytes.
namespace millrace::mpi {

// A device for each rank, over all its processors (a gang, where it has several), of kind "cpu" or "cpu_xN"; where
// ranks run on processors of several sorts, the kinds of the others end in "_b", "_c", ... Memory of a machine is
// shared out among its ranks. No links yet.
Machine MachineOfRanks(const std::vector<Member>& members);

// Bytes over a link take latency_seconds + bytes / bandwidth: the line through the times of the fewest bytes and of the
// most. Times are of round trips, of which the way back has one byte; `seconds[i]` is of `bytes[i]`, at least two
// sizes.
Link FitLink(const std::vector<double>& bytes, const std::vector<double>& seconds);

// Times every link between the ranks of the machine's devices, both ways, and puts them in place of the machine's own.
// Links that slow each other down when used at once get one channel: all of them (a bus), or those that leave one rank,
// or those that enter one (their entry channel, where those that leave share one, too); otherwise each has its own.
// Devices of one rank are linked for free. Takes about `seconds`.
void MeasureLinks(Leader& leader, Machine& machine, double seconds);

}  // namespace millrace::mpi
