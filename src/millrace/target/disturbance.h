// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Was somebody else using our processors while we measured? Seconds.
//
// Over a second or more /proc/stat tells: it counts in ticks of 10 ms. Over the time of one op the scheduler's account
// of a thread does: how long it was ready to run and another had the processor.
namespace millrace {

// Processor time since the system started, over some processors.
struct ProcessorTimes {
  double busy = 0;    // somebody ran: user, nice, system, interrupts
  double stolen = 0;  // the host of this virtual machine gave the processor to others
};

// From the text of /proc/stat; nothing where one of the processors is not in it.
std::optional<ProcessorTimes> ParseProcessorTimes(std::string_view stat, const std::vector<int>& cpus,
                                                  double ticks_per_second);

// Starts watching when it is made.
class DisturbanceWatch {
 public:
  explicit DisturbanceWatch(std::vector<int> cpus);

  // The share of the processors' time since the start that went to others: other processes and other virtual machines.
  // The time of our own process and of those it has waited for is subtracted, and a tick per processor. 0 where the
  // system does not tell.
  double ShareOfOthers() const;

  // More than 5 % went to others.
  bool Disturbed() const;

 private:
  std::vector<int> cpus_;
  std::optional<ProcessorTimes> before_;
  double own_before_ = 0;
  double started_ = 0;
};

// How long the thread that made it had to wait for a processor so far. One object serves that thread.
class WaitingClock {
 public:
  WaitingClock();
  ~WaitingClock();
  WaitingClock(const WaitingClock&) = delete;
  WaitingClock& operator=(const WaitingClock&) = delete;

  // Costs a system call. 0 where the system does not tell.
  double Seconds() const;

 private:
  int file_;  // -1: the system does not tell
};

// From the text of /proc/PID/schedstat, "ran waited slices" in nanoseconds; 0 of any other text.
double ParseWaited(std::string_view schedstat);

}  // namespace millrace
