// SPDX-License-Identifier: Apache-2.0
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <thread>

#include "millrace/engines/mpi/part.h"
#include "millrace/runtime/aligned_memory.h"
#include "millrace/runtime/progress.h"

namespace millrace::mpi {
namespace {

using Clock = std::chrono::steady_clock;

// A wait that took less was none: the tensor was there before.
constexpr std::chrono::microseconds kWaited{5};

void SleepUntil(Clock::time_point end) {
  const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(end.time_since_epoch()).count();
  const timespec at{static_cast<time_t>(since / 1'000'000'000), static_cast<long>(since % 1'000'000'000)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr) == EINTR) {
  }
}

Clock::duration DurationOf(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

std::size_t MostBytes(const std::vector<Parcel>& parcels) {
  std::size_t most = 0;
  for (const Parcel& parcel : parcels) most = std::max(most, parcel.bytes);
  return most;
}

class EmulatedPart final : public Part {
 public:
  explicit EmulatedPart(const PartPlan& plan)
      : plan_(plan),
        arriving_(AllocateAligned(MostBytes(plan.arriving))),
        leaving_(AllocateAligned(MostBytes(plan.leaving))),
        finished_(new Progress[plan.groups.size()]),
        finish_(plan.groups.size()) {
    std::map<int, std::size_t> chain_of;  // by processor
    for (std::size_t i = 0; i < plan.groups.size(); ++i) {
      PartGroup& group = plan_.groups[i];
      for (const int processor : group.processors) {
        const auto [at, fresh] = chain_of.try_emplace(processor, chains_.size());
        if (fresh) chains_.emplace_back();
        std::vector<Link>& chain = chains_[at->second];
        if (!chain.empty()) group.after.push_back(static_cast<int>(chain.back().group));
        chain.push_back({i, processor == group.processors.front()});
      }
    }
  }

  std::span<std::byte> Arrival(std::size_t i) override { return {arriving_.get(), plan_.arriving[i].bytes}; }
  std::span<const std::byte> Departure(std::size_t i) override { return {leaving_.get(), plan_.leaving[i].bytes}; }
  std::span<std::byte> Input(int) override { return {}; }
  std::span<const std::byte> Output(int) override { return {}; }

  double Run(Border& border) override {
    for (std::size_t i = 0; i < plan_.groups.size(); ++i) finished_[i].Reset();
    const Clock::time_point start = Clock::now();
    std::vector<std::thread> others;
    for (std::size_t chain = 1; chain < chains_.size(); ++chain)
      others.emplace_back([this, &border, chain, start] { WorkThrough(chains_[chain], border, start); });
    if (!chains_.empty()) WorkThrough(chains_.front(), border, start);
    for (std::thread& thread : others) thread.join();
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

 private:
  // A group in a processor's chain; one of a gang's processors leads it.
  struct Link {
    std::size_t group = 0;
    bool leads = false;
  };

  void WorkThrough(const std::vector<Link>& chain, Border& border, Clock::time_point start) {
    prctl(PR_SET_TIMERSLACK, 1UL);
    Clock::time_point free = start;  // when this processor is, by the groups' times
    bool lost = false;
    for (const Link& link : chain) {
      if (link.leads) {
        const PartGroup& group = plan_.groups[link.group];
        for (const int before : group.after) {
          finished_[static_cast<std::size_t>(before)].Await(1);
          free = std::max(free, finish_[static_cast<std::size_t>(before)]);
        }
        for (const int arrival : group.arrivals) {
          const Clock::time_point before = Clock::now();
          lost = !border.Await(arrival) || lost;
          const Clock::time_point now = Clock::now();
          if (now - before > kWaited) free = std::max(free, now);
        }
        free += DurationOf(group.seconds);
        if (!lost) SleepUntil(free);
        finish_[link.group] = free;
        finished_[link.group].RaiseTo(1);
        for (const int departure : group.departures) {
          if (!lost) border.Depart(departure);
        }
      } else {
        finished_[link.group].Await(1);
      }
    }
  }

  PartPlan plan_;
  std::shared_ptr<std::byte> arriving_, leaving_;
  std::unique_ptr<Progress[]> finished_;   // by group
  std::vector<Clock::time_point> finish_;  // by group: when it was to be
  std::vector<std::vector<Link>> chains_;  // by processor that is used
};

}  // namespace

std::unique_ptr<Part> MakeEmulatedPart(const PartPlan& plan) { return std::make_unique<EmulatedPart>(plan); }

}  // namespace millrace::mpi
