// SPDX-License-Identifier: Apache-2.0
#include "millrace/target/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>

#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"

extern char** environ;

namespace millrace {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kPollMilliseconds = 100;

class Descriptor {
 public:
  explicit Descriptor(int descriptor = -1) : descriptor_(descriptor) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { Close(); }

  void Reset(int descriptor) {
    Close();
    descriptor_ = descriptor;
  }
  void Close() {
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = -1;
  }
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

// One stream of the child, read as it comes; only its end is kept.
class Stream {
 public:
  explicit Stream(std::size_t kept_bytes) : most_kept_(kept_bytes) {}

  // False where no pipe can be had.
  bool Open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read_.Reset(ends[0]);
    write_.Reset(ends[1]);
    return fcntl(read_.get(), F_SETFL, O_NONBLOCK) == 0;
  }

  int write_end() const { return write_.get(); }
  int read_end() const { return read_.get(); }
  void CloseWriteEnd() { write_.Close(); }

  // Takes what is there, up to `most` bytes in all.
  void Drain(std::size_t most) {
    std::array<char, 16384> buffer;
    while (read_.get() >= 0 && seen_ <= most) {
      const ssize_t count = read(read_.get(), buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) return;
      if (count <= 0) {
        read_.Close();
        return;
      }
      seen_ += static_cast<std::size_t>(count);
      kept_.append(buffer.data(), static_cast<std::size_t>(count));
      if (kept_.size() > 2 * most_kept_) kept_.erase(0, kept_.size() - most_kept_);
    }
  }

  std::size_t seen() const { return seen_; }
  std::string TakeTail() {
    if (kept_.size() > most_kept_) kept_.erase(0, kept_.size() - most_kept_);
    return std::move(kept_);
  }

 private:
  Descriptor read_, write_;
  std::string kept_;
  std::size_t most_kept_;
  std::size_t seen_ = 0;
};

// What posix_spawn is told, released with it.
class SpawnSettings {
 public:
  SpawnSettings(const Stream& output, const Stream& errors) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, output.write_end(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, errors.write_end(), STDERR_FILENO);
    posix_spawnattr_init(&attributes_);
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    for (const int signal : {SIGINT, SIGTERM, SIGQUIT, SIGPIPE, SIGHUP}) sigaddset(&usual, signal);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &usual);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(
        &attributes_, static_cast<short>(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  posix_spawn_file_actions_t* actions() { return &actions_; }
  posix_spawnattr_t* attributes() { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

bool HasEnded(pid_t child) {
  siginfo_t info{};
  // The child is left to be waited for, so its number, and its group's, cannot be given to another meanwhile.
  return waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child;
}

}  // namespace

ChildResult RunChild(const std::vector<std::string>& words, const ChildLimits& limits) {
  ChildResult result;
  Stream output(limits.kept_bytes), errors(limits.kept_bytes);
  if (!output.Open() || !errors.Open()) {
    result.code = errno;
    return result;
  }
  std::vector<std::string> copies = words;
  std::vector<char*> arguments;
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  SpawnSettings settings(output, errors);
  pid_t child = 0;
  result.code =
      posix_spawnp(&child, arguments[0], settings.actions(), settings.attributes(), arguments.data(), environ);
  if (result.code != 0) return result;
  output.CloseWriteEnd();
  errors.CloseWriteEnd();

  // Wakes us when the child ends; where the kernel has none we look every so often.
  const Descriptor ended(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  const auto deadline = Clock::now() + std::chrono::duration<double>(limits.seconds);
  bool interrupted = false;
  result.ending = ChildEnding::kExited;
  while (!HasEnded(child)) {
    const double left = std::chrono::duration<double, std::milli>(deadline - Clock::now()).count();
    interrupted = InterruptRequested();
    if (left <= 0) result.ending = ChildEnding::kTimedOut;
    if (std::max(output.seen(), errors.seen()) > limits.output_bytes) result.ending = ChildEnding::kTooMuchOutput;
    if (interrupted || result.ending != ChildEnding::kExited) break;
    std::array<pollfd, 3> watched{
        {{output.read_end(), POLLIN, 0}, {errors.read_end(), POLLIN, 0}, {ended.get(), POLLIN, 0}}};
    poll(watched.data(), watched.size(), static_cast<int>(std::clamp(std::ceil(left), 1.0, kPollMilliseconds)));
    output.Drain(limits.output_bytes);
    errors.Drain(limits.output_bytes);
  }
  kill(-child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  output.Drain(limits.output_bytes);
  errors.Drain(limits.output_bytes);
  if (interrupted) throw Interrupted();
  if (result.ending == ChildEnding::kExited) {
    result.code = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
    if (!WIFEXITED(status)) result.ending = ChildEnding::kKilled;
    if (std::max(output.seen(), errors.seen()) > limits.output_bytes) result.ending = ChildEnding::kTooMuchOutput;
  }
  result.output = output.TakeTail();
  result.errors = errors.TakeTail();
  return result;
}

}  // namespace millrace
