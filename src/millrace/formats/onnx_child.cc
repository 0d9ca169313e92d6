// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/onnx_child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>

#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"

namespace millrace {
namespace {

#ifdef MILLRACE_SANITIZED
constexpr bool kSanitized = true;  // sanitizers map terabytes for themselves, so no limit on memory then
#else
constexpr bool kSanitized = false;
#endif

constexpr std::size_t kMostReplyBytes = std::size_t{1} << 30;
constexpr char kDone = 'd';
constexpr char kComplaint = 'c';

void Limit(int resource, rlim_t most) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max == RLIM_INFINITY ? most : std::min(most, limit.rlim_max);
  setrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
}

std::size_t BytesMapped() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  unsigned long pages = 0;
  if (std::fscanf(file, "%lu", &pages) != 1) pages = 0;
  std::fclose(file);
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void WriteAll(int file, const std::string& bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const ssize_t written = write(file, bytes.data() + at, bytes.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    at += static_cast<std::size_t>(written);
  }
}

[[noreturn]] void BeChild(int reply_to, const ForkLimits& limits, const std::function<std::string()>& work) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int number : {SIGINT, SIGTERM, SIGFPE, SIGSEGV, SIGABRT}) std::signal(number, SIG_DFL);
  const int nowhere = open("/dev/null", O_RDWR);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere, standard);
  Limit(RLIMIT_CORE, 0);
  Limit(RLIMIT_CPU, static_cast<rlim_t>(limits.most_seconds) + 1);
  if (const std::size_t mapped = kSanitized ? 0 : BytesMapped(); mapped > 0)
    Limit(RLIMIT_AS, static_cast<rlim_t>(mapped + limits.most_bytes));
  std::string reply;
  try {
    reply = kDone + work();
  } catch (const std::bad_alloc&) {
    reply = std::string(1, kComplaint) + "it needs more memory than it may take";
  } catch (const std::exception& error) {
    reply = kComplaint + std::string(error.what());
  }
  WriteAll(reply_to, reply);
  _exit(0);
}

class Child {
 public:
  explicit Child(pid_t id) : id_(id) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (id_ > 0) {
      kill(id_, SIGKILL);
      Wait();
    }
  }

  int Wait() {
    int status = 0;
    while (waitpid(id_, &status, 0) < 0 && errno == EINTR) {
    }
    id_ = -1;
    return status;
  }

 private:
  pid_t id_;
};

class Descriptor {
 public:
  explicit Descriptor(int file) : file_(file) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(file_); }

  int get() const { return file_; }

 private:
  int file_;
};

// Everything the child says until it closes its end.
std::string Listen(int from, const std::string& what, double most_seconds) {
  const auto begin = std::chrono::steady_clock::now();
  std::string reply;
  std::string buffer(1 << 16, '\0');
  for (;;) {
    StopIfInterrupted();
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    if (passed.count() > most_seconds) {
      throw InvalidInput(fmt::format("{} took more than {} s; a size in the model makes no sense", what, most_seconds));
    }
    pollfd waiting{from, POLLIN, 0};
    if (poll(&waiting, 1, 100) <= 0) continue;
    const ssize_t count = read(from, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return reply;
    reply.append(buffer, 0, static_cast<std::size_t>(count));
    if (reply.size() > kMostReplyBytes) throw InvalidInput(what + " yields more than there can be");
  }
}

std::string OneLine(const std::string& text) {
  constexpr std::size_t kLongest = 600;
  std::string line;
  for (const char c : text.substr(0, kLongest)) {
    const bool blank = c == '\n' || c == '\r' || c == '\t' || c == ' ';
    if (!blank) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

}  // namespace

std::string RunInChild(const std::string& what, const ForkLimits& limits, const std::function<std::string()>& work) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw WorkFailed("cannot open a pipe: " + std::string(std::strerror(errno)));
  const Descriptor reading(ends[0]);
  pid_t id = -1;
  {
    const Descriptor writing(ends[1]);
    id = fork();
    if (id == 0) BeChild(writing.get(), limits, work);
  }
  if (id < 0) throw WorkFailed("cannot start a child process: " + std::string(std::strerror(errno)));
  Child child(id);
  const std::string reply = Listen(reading.get(), what, limits.most_seconds);
  const int status = child.Wait();
  if (!reply.empty() && reply[0] == kDone && WIFEXITED(status)) return reply.substr(1);
  if (!reply.empty() && reply[0] == kComplaint) throw InvalidInput(OneLine(what + ": " + reply.substr(1)));
  if (WIFSIGNALED(status)) {
    throw InvalidInput(fmt::format("{} crashed ({}); an attribute or a size in the model makes no sense", what,
                                   strsignal(WTERMSIG(status))));
  }
  throw InvalidInput(what + " ended without an answer; an attribute or a size in the model makes no sense");
}

}  // namespace millrace
