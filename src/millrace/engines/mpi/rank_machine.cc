// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/mpi/rank_machine.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "millrace/engines/mpi/seats.h"
#include "millrace/errors/interrupt.h"

namespace millrace::mpi {
namespace {

// Sizes that are timed: from what is all latency to what is all bandwidth, on links from slow to fast.
constexpr double kSizes[] = {1, 4e3, 3.2e4, 1.28e5, 5e5, 2e6, 8e6};
constexpr int kMostRepetitions = 20;
constexpr int kFewestRepetitions = 3;

// Two streams over one wire take twice as long, over two as long as one; the middle between decides.
constexpr double kSharedFactor = 1.4;
constexpr int kSharedRepetitions = 5;
constexpr int kSharedRounds = 3;
constexpr double kSharedSeconds = 0.02;  // of one stream, about: bandwidth counts, not latency

class LinkMeter {
 public:
  LinkMeter(Leader& leader, double seconds)
      : leader_(leader), size_(leader.size()), seconds_(seconds / std::max(1, size_ * (size_ - 1))) {}

  void Measure() {
    for (int from = 0; from < size_; ++from) {
      for (int to = 0; to < size_; ++to) {
        if (from != to) links_[{from, to}] = MeasureOne({from, to});
      }
    }
    FindChannels();
  }

  const Link& At(int from, int to) const { return links_.at({from, to}); }

 private:
  Link MeasureOne(const Stream& stream) {
    std::vector<double> bytes, times;
    double left = seconds_;
    for (const double size : kSizes) {
      StopIfInterrupted();
      // What the last size says of this one decides how often, and whether at all.
      const double once = times.empty() ? 1e-3 : times.back() * std::max(1.0, size / bytes.back());
      if (bytes.size() > 2 && kFewestRepetitions * once > left) break;
      const int repetitions = std::clamp(static_cast<int>(left / 3 / once), kFewestRepetitions, kMostRepetitions);
      times.push_back(leader_.Exchange({stream}, static_cast<std::uint64_t>(size), repetitions).front());
      bytes.push_back(size);
      left -= times.back() * repetitions;
    }
    Link link = FitLink(bytes, times);
    link.from = stream.from;
    link.to = stream.to;
    return link;
  }

  // Do these streams slow each other down? What else runs on the hosts slows down some rounds, so the best ones tell.
  bool Shared(const std::vector<Stream>& streams) {
    StopIfInterrupted();
    const double bandwidth = At(streams.front().from, streams.front().to).bandwidth;
    const auto bytes = static_cast<std::uint64_t>(std::clamp(bandwidth * kSharedSeconds, 1e5, 3e7));
    std::vector<double> alone(streams.size(), std::numeric_limits<double>::infinity());
    double together = std::numeric_limits<double>::infinity();
    for (int round = 0; round < kSharedRounds; ++round) {
      for (std::size_t i = 0; i < streams.size(); ++i)
        alone[i] = std::min(alone[i], leader_.Exchange({streams[i]}, bytes, kSharedRepetitions).front());
      const std::vector<double> times = leader_.Exchange(streams, bytes, kSharedRepetitions);
      together = std::min(together, *std::max_element(times.begin(), times.end()));
    }
    return together > kSharedFactor * *std::max_element(alone.begin(), alone.end());
  }

  void FindChannels() {
    const bool bus = size_ >= 4 ? Shared({{0, 1}, {2, 3}}) : size_ == 2 && Shared({{0, 1}, {1, 0}});
    const bool leaving = !bus && size_ >= 3 && Shared({{0, 1}, {0, 2}});
    const bool entering = !bus && size_ >= 3 && Shared({{1, 0}, {2, 0}});
    for (auto& [ends, link] : links_) {
      if (bus) {
        link.channel = 0;
      } else if (leaving) {
        link.channel = ends.first;
        if (entering) link.entry_channel = size_ + ends.second;
      } else {
        link.channel = entering ? ends.second : ends.first * size_ + ends.second;
      }
    }
  }

  Leader& leader_;
  const int size_;
  const double seconds_;  // for one link
  std::map<std::pair<int, int>, Link> links_;
};

}  // namespace

Machine MachineOfRanks(const std::vector<Member>& members) {
  Machine machine;
  machine.name = fmt::format("{} rank{}", members.size(), members.size() == 1 ? "" : "s");
  std::vector<std::string> sorts;
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    const Member& member = members[rank];
    const auto sort = std::find(sorts.begin(), sorts.end(), member.facts.processor);
    const std::size_t number = static_cast<std::size_t>(sort - sorts.begin());
    if (sort == sorts.end()) sorts.push_back(member.facts.processor);
    const double count = static_cast<double>(member.cpus.size());
    Device device;
    device.name = fmt::format("rank{}@{}", rank, member.facts.host);
    device.kind = member.cpus.size() == 1 ? "cpu" : fmt::format("cpu_x{}", member.cpus.size());
    if (number > 0) device.kind += fmt::format("_{}", static_cast<char>('a' + std::min<std::size_t>(number, 25)));
    for (std::size_t processor = 0; processor < member.cpus.size(); ++processor)
      device.units.push_back(static_cast<int>(rank) * kUnitsOfARank + static_cast<int>(processor));
    device.flops_per_second = count * member.facts.flops_per_second;
    device.memory_bandwidth = std::min(count * member.facts.memory_bandwidth, member.facts.most_bandwidth);
    if (member.facts.memory_bytes > 0) device.memory_bytes = member.facts.memory_bytes / member.ranks_of_host;
    device.launch_seconds = member.cpus.size() == 1 ? member.facts.launch_seconds : member.facts.gang_launch_seconds;
    machine.devices.push_back(std::move(device));
  }
  return machine;
}

Link FitLink(const std::vector<double>& bytes, const std::vector<double>& seconds) {
  // Not the line closest to all: what a link lets through at once, before its rate holds, would make it look faster.
  const auto [least, most] = std::minmax_element(bytes.begin(), bytes.end());
  const double first = seconds[static_cast<std::size_t>(least - bytes.begin())];
  const double last = seconds[static_cast<std::size_t>(most - bytes.begin())];
  const double slope = std::max(0.0, last - first) / (*most - *least);
  Link link;
  link.latency_seconds = std::max(0.0, first - slope * *least) / 2;
  link.bandwidth = slope > 0 ? 1 / slope : kUnlimitedBandwidth;
  return link;
}

void MeasureLinks(Leader& leader, Machine& machine, double seconds) {
  LinkMeter meter(leader, seconds);
  meter.Measure();
  machine.links.clear();
  machine.default_link.reset();
  machine.sharing = Sharing::kFair;
  const std::vector<Seat> seats = SeatsOf(machine);
  for (std::size_t from = 0; from < seats.size(); ++from) {
    for (std::size_t to = 0; to < seats.size(); ++to) {
      if (seats[from].rank == seats[to].rank) continue;
      Link link = meter.At(seats[from].rank, seats[to].rank);
      link.from = static_cast<int>(from);
      link.to = static_cast<int>(to);
      machine.links.push_back(link);
    }
  }
}

}  // namespace millrace::mpi
