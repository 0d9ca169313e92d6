// SPDX-License-Identifier: Apache-2.0
#include "millrace/target/disturbance.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>

namespace millrace {
namespace {

constexpr double kMostShareOfOthers = 0.05;

double SecondsOnClock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Of this process and of those it started and has waited for.
double OwnSeconds() {
  rusage children{};
  ::getrusage(RUSAGE_CHILDREN, &children);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return SecondsOnClock(CLOCK_PROCESS_CPUTIME_ID) + seconds(children.ru_utime) + seconds(children.ru_stime);
}

double TicksPerSecond() {
  const long ticks = sysconf(_SC_CLK_TCK);
  return ticks > 0 ? static_cast<double>(ticks) : 100.0;
}

std::optional<ProcessorTimes> PresentTimes(const std::vector<int>& cpus) {
  std::ifstream file("/proc/stat");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return ParseProcessorTimes(text, cpus, TicksPerSecond());
}

}  // namespace

std::optional<ProcessorTimes> ParseProcessorTimes(std::string_view stat, const std::vector<int>& cpus,
                                                  double ticks_per_second) {
  ProcessorTimes times;
  for (const int cpu : cpus) {
    const std::string label = "\ncpu" + std::to_string(cpu) + " ";
    const std::size_t at = stat.find(label);
    if (at == std::string_view::npos) return std::nullopt;
    std::istringstream numbers{std::string(stat.substr(at + label.size(), 400))};
    enum { kUser, kNice, kSystem, kIdle, kWaiting, kInterrupts, kSoftInterrupts, kStolen, kFields };
    std::array<double, kFields> ticks{};
    for (double& field : ticks) {
      if (!(numbers >> field)) return std::nullopt;
    }
    times.busy +=
        (ticks[kUser] + ticks[kNice] + ticks[kSystem] + ticks[kInterrupts] + ticks[kSoftInterrupts]) / ticks_per_second;
    times.stolen += ticks[kStolen] / ticks_per_second;
  }
  return times;
}

DisturbanceWatch::DisturbanceWatch(std::vector<int> cpus)
    : cpus_(std::move(cpus)),
      before_(PresentTimes(cpus_)),
      own_before_(OwnSeconds()),
      started_(SecondsOnClock(CLOCK_MONOTONIC)) {}

double DisturbanceWatch::ShareOfOthers() const {
  const std::optional<ProcessorTimes> now = PresentTimes(cpus_);
  if (!before_ || !now) return 0;
  const double wall = (SecondsOnClock(CLOCK_MONOTONIC) - started_) * static_cast<double>(cpus_.size());
  const double own = OwnSeconds() - own_before_;
  const double uncertain = static_cast<double>(cpus_.size()) / TicksPerSecond();
  const double others = std::max(0.0, now->busy - before_->busy - own) + (now->stolen - before_->stolen) - uncertain;
  return wall <= 0 ? 0 : std::clamp(others / wall, 0.0, 1.0);
}

bool DisturbanceWatch::Disturbed() const { return ShareOfOthers() > kMostShareOfOthers; }

double ParseWaited(std::string_view schedstat) {
  const std::size_t space = schedstat.find(' ');
  if (space == std::string_view::npos) return 0;
  std::uint64_t nanoseconds = 0;
  const char* const begin = schedstat.data() + space + 1;
  const auto [end, error] = std::from_chars(begin, schedstat.data() + schedstat.size(), nanoseconds);
  return error == std::errc() && end != begin ? static_cast<double>(nanoseconds) * 1e-9 : 0;
}

WaitingClock::WaitingClock() : file_(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}

WaitingClock::~WaitingClock() {
  if (file_ >= 0) ::close(file_);
}

double WaitingClock::Seconds() const {
  std::array<char, 96> text{};
  const ssize_t length = file_ < 0 ? 0 : ::pread(file_, text.data(), text.size(), 0);
  return length <= 0 ? 0 : ParseWaited({text.data(), static_cast<std::size_t>(length)});
}

}  // namespace millrace
