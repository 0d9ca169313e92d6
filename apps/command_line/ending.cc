// SPDX-License-Identifier: Apache-2.0
#include "command_line/ending.h"

#include <execinfo.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <string_view>

#include "millrace/errors/errors.h"
#include "millrace/errors/shown.h"

namespace millrace::cli {
namespace {

// Of a complaint with long words of others in it the beginning is shown and the end, which says what to do.
constexpr std::size_t kLongestHead = 700, kLongestTail = 300;

// Allocates nothing: where memory has run out there may be none left for words either.
int ComplainOfMemory(const char* program) {
  std::fprintf(
      stderr,
      "%s: this takes more memory than there is; give it a smaller graph, fewer --threads or --samples, or more "
      "memory\n",
      program);
  return 1;
}

// Libraries allocate where nothing may be thrown, too: when they free a large JSON value, or run a kernel. Where that
// finds no memory the process cannot go on, but says why.
const char* ending_program = "";
[[noreturn]] void EndForWantOfMemory() {
  try {
    if (std::current_exception()) std::rethrow_exception(std::current_exception());
  } catch (const std::bad_alloc&) {
    _exit(ComplainOfMemory(ending_program));
  } catch (...) {
    std::abort();
  }
  std::abort();
}

int Complain(const std::string& program, std::string_view complaint, int code) try {
  const std::size_t head = std::min(kLongestHead, complaint.size());
  const std::size_t tail = std::min(kLongestTail, complaint.size() - head);
  const std::string shown = Shown(complaint.substr(0, complaint.size() - tail), kLongestHead) +
                            Escaped(complaint.substr(complaint.size() - tail));
  std::fprintf(stderr, "%s: %s\n", program.c_str(), shown.c_str());
  return code;
} catch (const std::bad_alloc&) {
  return ComplainOfMemory(program.c_str());
}

// glibc loads what unwinds a thread when the first one ends early, as OpenMP's do. Where memory has run out by then it
// cannot, and ends the process by a signal.
void LoadUnwinder() {
  void* frame = nullptr;
  backtrace(&frame, 1);
}

// A file must not be opened in the place of a stream that our caller has closed: what is printed would go into it. What
// lies there instead can be neither read nor written in the stream's way.
void HoldStandardStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    if (open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
  }
}

int Work(const std::string& program, const std::function<int()>& work) {
  try {
    return work();
  } catch (const InvalidInput& error) {
    return Complain(program, error.what(), 2);
  } catch (const std::bad_alloc&) {
    return ComplainOfMemory(program.c_str());
  } catch (const std::length_error&) {
    return Complain(program, "a size in the input is beyond what memory can hold", 1);
  } catch (const std::exception& error) {
    return Complain(program, error.what(), 1);
  }
}

}  // namespace

int RunToItsEnd(const std::string& program, const std::function<int()>& work) {
  HoldStandardStreams();
  LoadUnwinder();
  ending_program = program.c_str();
  std::set_terminate(EndForWantOfMemory);
  // A file that grows over the limit of its size is an error as a full disk is, not the end of the process.
  std::signal(SIGXFSZ, SIG_IGN);
  const int code = Work(program, work);
  const bool written = std::fflush(stdout) == 0;
  const int error = errno;
  if ((written && std::ferror(stdout) == 0) || code != 0) return code;
  const std::string reason = written ? "" : std::string(": ") + std::strerror(error);
  return Complain(program, "stdout: could not be written" + reason, 1);
}

int ComplainOfUsage(const std::string& program, const std::string& complaint) {
  return Complain(program, complaint, 2);
}

}  // namespace millrace::cli
