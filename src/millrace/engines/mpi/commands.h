// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "millrace/engines/mpi/letter.h"

// How rank 0 leads: a letter with a command, after which some commands have more to pass, and from each rank an answer.
namespace millrace::mpi {

enum class Command : std::int32_t {
  kStop,      // no answer: the run is over
  kLoad,      // number, kind, part
  kUnload,    // number; no answer
  kWrite,     // number, value, bytes; then the content of that input, where it is read. No answer
  kRun,       // number; an answer when ready, kGoTag for the start, and an answer with the seconds
  kRead,      // number, value; the answer says how many bytes of that output follow
  kExchange,  // an ExchangeOrder; the answer says the seconds
  kTime,      // ops, processors; the answer says the seconds of the group, and whether others disturbed it
};

inline constexpr int kGoTag = 18;    // one byte: everybody is ready
inline constexpr int kDataTag = 19;  // content of inputs and outputs

// How a command went.
enum class Ending : std::int32_t { kDone, kFailed, kInvalid };

// An answer so far: the ending and, if it is not kDone, why.
inline Letter AnswerOf(Ending ending, const std::string& why = "") {
  Letter letter;
  letter.Put(ending);
  if (ending != Ending::kDone) letter.PutText(why);
  return letter;
}

}  // namespace millrace::mpi
