// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/machine/machine.h"

// Which rank runs what is placed on a device. A machine says it by its units: unit r * 1000 + p is processor p of
// rank r, counted among those the rank has. Where no unit is 1000 or more, as on machines that are made up, the
// machine's memories (devices that share units, also through a third) stand for ranks, in order of their first device,
// and their units, in order, for the rank's processors.
namespace millrace::mpi {

inline constexpr int kUnitsOfARank = 1000;

struct Seat {
  int rank = 0;
  std::vector<int> processors;  // ascending; several: a gang
};

// By device.
std::vector<Seat> SeatsOf(const Machine& machine);

// How many ranks the machine takes.
int RanksOf(const std::vector<Seat>& seats);

}  // namespace millrace::mpi
