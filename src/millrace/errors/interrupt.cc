// SPDX-License-Identifier: Apache-2.0
#include "millrace/errors/interrupt.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <string_view>
#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/errors/stop_flag.h"

namespace millrace {
namespace {

// Nobody writes more files at once.
constexpr std::size_t kMostTemporaries = 64;

std::atomic<bool> requested{false};
std::atomic<unsigned> most_seconds_to_end{0};
thread_local const StopFlag* flag_here = nullptr;
std::array<std::atomic<const char*>, kMostTemporaries> temporaries{};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<const char*>::is_always_lock_free &&
                  std::atomic<unsigned>::is_always_lock_free,
              "a signal handler may touch lock-free atomics only");

void RemoveTemporaries() {
  for (const std::atomic<const char*>& path : temporaries) {
    if (const char* const name = path.load()) unlink(name);
  }
}

extern "C" void OnEndOfPatience(int) {
  RemoveTemporaries();
  constexpr std::string_view kLine = "millrace: interrupted\n";
  static_cast<void>(!write(STDERR_FILENO, kLine.data(), kLine.size()));
  _exit(1);
}

void Handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

extern "C" void OnInterrupt(int signal) {
  const int error = errno;
  if (requested.exchange(true)) {
    RemoveTemporaries();
    Handle(signal, SIG_DFL);
    raise(signal);
    return;
  }
  if (const unsigned seconds = most_seconds_to_end.load(); seconds > 0) {
    Handle(SIGALRM, OnEndOfPatience);
    alarm(seconds);
  }
  errno = error;
}

}  // namespace

void WatchForInterrupt(unsigned most_seconds) {
  most_seconds_to_end.store(most_seconds);
  Handle(SIGINT, OnInterrupt);
  Handle(SIGTERM, OnInterrupt);
}

StopScope::StopScope(const StopFlag* flag) : before_(std::exchange(flag_here, flag)) {}

StopScope::~StopScope() { flag_here = before_; }

const StopFlag* StopScope::Here() { return flag_here; }

bool InterruptRequested() { return requested.load() || (flag_here != nullptr && flag_here->load()); }

void StopIfInterrupted() {
  if (InterruptRequested()) throw Interrupted();
}

TemporaryFile::TemporaryFile(std::string path) : path_(std::move(path)), slot_(-1) {
  for (std::size_t slot = 0; slot < temporaries.size() && slot_ < 0; ++slot) {
    const char* none = nullptr;
    if (temporaries[slot].compare_exchange_strong(none, path_.c_str())) slot_ = static_cast<int>(slot);
  }
}

TemporaryFile::~TemporaryFile() {
  if (!path_.empty()) unlink(path_.c_str());
  Keep();
}

void TemporaryFile::Keep() {
  if (slot_ >= 0) temporaries[static_cast<std::size_t>(slot_)].store(nullptr);
  slot_ = -1;
  path_.clear();
}

}  // namespace millrace
