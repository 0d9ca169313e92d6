// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/run_fault.h"

#include <fmt/core.h>

#include "millrace/errors/errors.h"

namespace millrace {

void RunFault::ThrowIfNoted() const {
  if (!noted_) return;
  if (kind_ == Kind::kRowCount)
    throw InvalidInput(
        fmt::format("{}: the data give {} rows, and the model states {}; state as many", *node_, met_, stated_));
  throw InvalidInput(fmt::format(
      "{}: the index {} names no element of an axis of {}; check the data the model is run on", *node_, met_, stated_));
}

}  // namespace millrace
