// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/scale/stage_cost.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <exception>
#include <limits>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/errors/shown.h"
#include "millrace/planning/deadline.h"
#include "millrace/target/statistics.h"

namespace millrace {
namespace {

constexpr int kMostCalls = 5;
constexpr double kLongEnough = 0.5;
constexpr double kBytesPerKibibyte = 1024;

double ProcessorSeconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

[[noreturn]] void RunChildWork(const std::function<StageSeconds()>& work, double most_seconds, int pipe) {
  // Its signal ends a process that does not handle it.
  ::alarm(static_cast<unsigned>(std::ceil(std::min(most_seconds, 1e9))));
  int code = 1;
  try {
    const StageSeconds seconds = work();
    if (::write(pipe, &seconds, sizeof seconds) == static_cast<ssize_t>(sizeof seconds)) code = 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "millrace: %s\n", Escaped(error.what()).c_str());
  }
  ::_exit(code);
}

}  // namespace

std::optional<StageCost> CostOfStage(const std::function<StageSeconds()>& work, double most_seconds) {
  int ends[2];
  if (::pipe(ends) != 0) throw WorkFailed("no pipe to another process could be opened");
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw WorkFailed("no other process could be started");
  if (child == 0) {
    ::close(ends[0]);
    RunChildWork(work, most_seconds, ends[1]);
  }
  ::close(ends[1]);
  StageCost cost;
  ssize_t got = 0;
  do {
    got = ::read(ends[0], &cost.seconds, sizeof cost.seconds);
  } while (got < 0 && errno == EINTR && !InterruptRequested());
  ::close(ends[0]);
  if (InterruptRequested()) ::kill(child, SIGKILL);
  int status = 0;
  rusage usage{};
  while (::wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  StopIfInterrupted();
  if (got != static_cast<ssize_t>(sizeof cost.seconds) || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return std::nullopt;
  cost.peak_bytes = static_cast<double>(usage.ru_maxrss) * kBytesPerKibibyte;
  return cost;
}

StageSeconds SecondsOf(const std::function<void()>& call) {
  std::vector<double> wall, processor;
  double sum = 0;
  while (wall.empty() || (static_cast<int>(wall.size()) < kMostCalls && sum < kLongEnough)) {
    const Deadline clock;
    const double begin = ProcessorSeconds();
    call();
    processor.push_back(ProcessorSeconds() - begin);
    wall.push_back(clock.Elapsed());
    sum += wall.back();
  }
  return {Median(wall), Median(processor)};
}

double GrowthExponent(std::span<const double> x, std::span<const double> y) {
  double count = 0, sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(x[i] > 0) || !(y[i] > 0)) continue;
    const double log_x = std::log(x[i]);
    const double log_y = std::log(y[i]);
    ++count;
    sum_x += log_x;
    sum_y += log_y;
    sum_xx += log_x * log_x;
    sum_xy += log_x * log_y;
  }
  const double spread = count * sum_xx - sum_x * sum_x;
  // Of one x it is 0 but for rounding.
  if (!(spread > 1e-9 * std::max(1.0, count * sum_xx))) return std::numeric_limits<double>::quiet_NaN();
  return (count * sum_xy - sum_x * sum_y) / spread;
}

}  // namespace millrace
