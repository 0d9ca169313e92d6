// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

// The exceptions Millrace throws at its edges. Each carries one line for the person at the keyboard: what is wrong,
// in which file and place, what to do. They are caught once, in main; hot loops throw nothing.
namespace millrace {

// Something the user gave is not usable: a file, a flag, a plan for another graph. Exit code 2.
class InvalidInput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;

  // The same complaint with the place it was found in put before it: "FILE: complaint".
  InvalidInput InFile(const std::string& file) const;
};

// The input was fine and the work still could not be done: nothing fits in memory, every measurement failed, the disk
// is full. Exit code 1.
class WorkFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The user asked to stop (Ctrl-C). Files already complete stay, nothing half-written remains. Exit code 1.
class Interrupted : public WorkFailed {
 public:
  Interrupted() : WorkFailed("interrupted") {}
};

}  // namespace millrace
