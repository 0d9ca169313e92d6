// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "millrace/engines/mpi/postman.h"

// Timing messages between two ranks. Bytes, seconds.
namespace millrace::mpi {

// What one rank does: bytes go to each of some ranks at once, who each send a byte back; and what comes from some is
// answered so. Again and again.
struct ExchangeOrder {
  std::vector<int> to, from;
  std::uint64_t bytes = 0;
  int repetitions = 1;
};

// All that take part call this at about the same time. The least of a repetition's seconds, until all have answered:
// whatever disturbs it only adds to it. 0 where nothing is sent.
double TimeExchange(Postman& postman, const ExchangeOrder& order);

}  // namespace millrace::mpi
