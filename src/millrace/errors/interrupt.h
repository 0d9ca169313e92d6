// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

// Ctrl-C, made orderly: the first one asks long work to stop at its next safe place, the second ends the process.
namespace millrace {

// Installs the handler for SIGINT and SIGTERM. Called once, by main. Calls of the system that wait, for a pipe to be
// written for instance, come back with EINTR. Where `most_seconds` is not 0 the process ends by itself, as Interrupted
// ends it, when work has not come to a safe place in that time.
void WatchForInterrupt(unsigned most_seconds = 0);

// Has the user asked to stop?
bool InterruptRequested();

// Throws Interrupted if so. Long loops call it where nothing is half-done.
void StopIfInterrupted();

// The name of a file that is only for now. Removed with this object, and where an interrupt ends the process before
// that.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string path);
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  // It has been renamed into place.
  void Keep();

 private:
  std::string path_;
  int slot_;
};

}  // namespace millrace
