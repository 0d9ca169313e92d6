// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/simgrid/flow_process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string>
#include <system_error>

#include "millrace/engines/simgrid/flow_timeline.h"
#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"

namespace millrace {
namespace {

constexpr const char* kModule = "millrace-simgrid.so";
constexpr const char* kFunction = "MillraceRunFlows1";
constexpr int kLookAtInterrupts = 100;  // milliseconds

using RunFlows = decltype(&MillraceRunFlows1);

// Null where the module is not there. Loaded once; it stays.
RunFlows LoadModule() {
  std::error_code error;
  const std::filesystem::path executable = std::filesystem::read_symlink("/proc/self/exe", error);
  std::vector<std::filesystem::path> folders;
  if (!error) folders.push_back(executable.parent_path());
  folders.emplace_back(MILLRACE_INSTALLED_ENGINES);
  for (const std::filesystem::path& folder : folders) {
    void* const module = ::dlopen((folder / kModule).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr) continue;
    if (void* const function = ::dlsym(module, kFunction)) return reinterpret_cast<RunFlows>(function);
  }
  return nullptr;
}

RunFlows Module() {
  static const RunFlows module = LoadModule();
  return module;
}

void WriteAll(int file, const void* bytes, std::size_t size) {
  const char* at = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t written = ::write(file, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    at += written;
    size -= static_cast<std::size_t>(written);
  }
}

[[noreturn]] void BeChild(RunFlows run, const FlowProblem& problem, int reply_to) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int number : {SIGINT, SIGTERM, SIGFPE, SIGSEGV, SIGABRT}) std::signal(number, SIG_DFL);
  const int nowhere = ::open("/dev/null", O_RDWR);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, standard);
  try {
    std::vector<FlowTime> times;
    run(problem, &times);
    WriteAll(reply_to, times.data(), times.size() * sizeof(FlowTime));
  } catch (const std::exception&) {
    ::_exit(1);
  }
  ::_exit(0);
}

// As many bytes as `times` takes; false where the other side ends before.
bool ReadTimes(int from, std::vector<FlowTime>& times) {
  char* at = reinterpret_cast<char*>(times.data());
  std::size_t left = times.size() * sizeof(FlowTime);
  while (left > 0 && !InterruptRequested()) {
    pollfd waiting{from, POLLIN, 0};
    if (::poll(&waiting, 1, kLookAtInterrupts) <= 0) continue;
    const ssize_t count = ::read(from, at, left);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    left -= static_cast<std::size_t>(count);
  }
  return left == 0;
}

}  // namespace

bool HasSimGrid() { return Module() != nullptr; }

std::vector<FlowTime> RunFlowsInChild(const FlowProblem& problem) {
  const RunFlows run = Module();
  if (run == nullptr) {
    throw InvalidInput(std::string("there is no SimGrid here: no ") + kModule +
                       " beside the command; install libsimgrid-dev and build again");
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw WorkFailed("cannot open a pipe: " + std::string(std::strerror(errno)));
  const pid_t child = ::fork();
  if (child == 0) BeChild(run, problem, ends[1]);
  ::close(ends[1]);
  std::vector<FlowTime> times(problem.activities.size());
  const bool whole = child > 0 && ReadTimes(ends[0], times);
  ::close(ends[0]);
  if (child < 0) throw WorkFailed("cannot start a process for SimGrid: " + std::string(std::strerror(errno)));
  if (!whole) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  StopIfInterrupted();
  if (!whole) throw WorkFailed("SimGrid ended without an answer");
  return times;
}

}  // namespace millrace
