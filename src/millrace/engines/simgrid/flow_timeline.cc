// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/simgrid/flow_timeline.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

#include "millrace/engines/simgrid/flow_process.h"
#include "millrace/graph/index.h"

namespace millrace {
namespace {

// SimGrid counts time from absolute precisions and bytes in whole numbers: both are scaled to be large.
constexpr double kUnitsOfAMakespan = 1e4;
constexpr double kUnitsOfTheMostBytes = 0x1p50;

class FlowBuilder {
 public:
  FlowBuilder(const CostedGraph& costed, const Assignment& assignment, double scale)
      : costed_(costed), topology_(costed.topology), assignment_(assignment), scale_(scale) {}

  FlowProblem Build() {
    problem_.hosts = topology_.num_devices;
    double most_bytes = 0;
    for (const GroupTensor& tensor : costed_.tensors) most_bytes = std::max(most_bytes, tensor.bytes);
    bytes_scale_ = most_bytes > 0 ? kUnitsOfTheMostBytes / most_bytes : 1;
    AddNetwork();
    for (int group = 0; group < costed_.num_groups; ++group)
      problem_.activities.push_back({Place(group), -1, costed_.Seconds(group, Place(group)) * scale_});
    ChainUnits();
    position_.resize(Index(costed_.num_groups));
    for (std::size_t i = 0; i < assignment_.sequence.size(); ++i)
      position_[Index(assignment_.sequence[i])] = static_cast<int>(i);
    for (const GroupTensor& tensor : costed_.tensors) {
      if (tensor.producer >= 0 && tensor.num_readers > 0) Send(tensor);
    }
    std::sort(problem_.before.begin(), problem_.before.end());
    problem_.before.erase(std::unique(problem_.before.begin(), problem_.before.end()), problem_.before.end());
    return std::move(problem_);
  }

 private:
  int Place(int group) const { return assignment_.placement[Index(group)]; }

  double Bandwidth(std::size_t pair) const { return bytes_scale_ / (topology_.seconds_per_byte[pair] * scale_); }

  // A shared link for every channel, and one for every pair that states its latency and its own bandwidth. Pairs of
  // unlimited bandwidth share nothing.
  void AddNetwork() {
    std::map<std::int32_t, int> of_channel;
    for (int from = 0; from < topology_.num_devices; ++from) {
      for (int to = 0; to < topology_.num_devices; ++to) {
        const std::size_t pair = topology_.Pair(from, to);
        if (topology_.free[pair] != 0) continue;
        FlowLink own{1, topology_.latency[pair] * scale_, false};
        FlowRoute route{from, to, {}};
        if (topology_.seconds_per_byte[pair] > 0) {
          own.bandwidth = Bandwidth(pair);
          for (const std::int32_t number : {topology_.channel[pair], topology_.EntryOf(pair)}) {
            if (number < 0) continue;
            const auto [at, fresh] = of_channel.try_emplace(number, problem_.links.size());
            if (fresh) problem_.links.push_back({0, 0, true});
            FlowLink& channel = problem_.links[Index(at->second)];
            channel.bandwidth = std::max(channel.bandwidth, own.bandwidth);
            route.links.push_back(at->second);
          }
        }
        route.links.push_back(static_cast<int>(problem_.links.size()));
        problem_.links.push_back(own);
        problem_.routes.push_back(std::move(route));
      }
    }
  }

  void ChainUnits() {
    std::vector<int> last(Index(topology_.num_units), -1);
    for (const int group : assignment_.sequence) {
      const std::size_t device = Index(Place(group));
      for (std::int32_t u = topology_.device_offsets[device]; u < topology_.device_offsets[device + 1]; ++u) {
        int& before = last[Index(topology_.device_units[Index(u)])];
        if (before >= 0) problem_.before.emplace_back(before, group);
        before = group;
      }
    }
  }

  void Send(const GroupTensor& tensor) {
    const int from = Place(tensor.producer);
    std::map<std::int32_t, int> first_reader;  // by memory
    for (const std::int32_t reader : costed_.Readers(tensor)) {
      if (topology_.free[topology_.Pair(from, Place(reader))] != 0) {
        problem_.before.emplace_back(tensor.producer, reader);
        continue;
      }
      const auto [at, fresh] = first_reader.try_emplace(topology_.memory_of[Index(Place(reader))], reader);
      if (!fresh && position_[Index(reader)] < position_[Index(at->second)]) at->second = reader;
    }
    for (const auto& [memory, first] : first_reader) {
      const int to = Place(first);
      int arrived = tensor.producer;
      if (costed_.TransferSeconds(tensor.bytes, from, to) > 0) {
        arrived = static_cast<int>(problem_.activities.size());
        const bool unlimited = topology_.seconds_per_byte[topology_.Pair(from, to)] == 0;
        problem_.activities.push_back({from, to, unlimited ? 0 : std::round(tensor.bytes * bytes_scale_)});
        problem_.before.emplace_back(tensor.producer, arrived);
      }
      for (const std::int32_t reader : costed_.Readers(tensor)) {
        const int place = Place(reader);
        if (topology_.memory_of[Index(place)] == memory && topology_.free[topology_.Pair(from, place)] == 0)
          problem_.before.emplace_back(arrived, reader);
      }
    }
  }

  const CostedGraph& costed_;
  const Topology& topology_;
  const Assignment& assignment_;
  double scale_;
  double bytes_scale_ = 1;
  std::vector<int> position_;  // by group: in the sequence
  FlowProblem problem_;
};

}  // namespace

FlowProblem FlowProblemOf(const CostedGraph& costed, const Assignment& assignment, double scale) {
  return FlowBuilder(costed, assignment, scale).Build();
}

Timeline FlowTimeline(const CostedGraph& costed, const Assignment& assignment) {
  const double linear = Simulator(costed).Makespan(assignment);
  const double scale = linear > 0 ? kUnitsOfAMakespan / linear : 1;
  const std::vector<FlowTime> times = RunFlowsInChild(FlowProblemOf(costed, assignment, scale));
  Timeline timeline;
  for (int group = 0; group < costed.num_groups; ++group) {
    timeline.start.push_back(times[Index(group)].start / scale);
    timeline.finish.push_back(times[Index(group)].finish / scale);
    timeline.makespan = std::max(timeline.makespan, timeline.finish.back());
  }
  return timeline;
}

}  // namespace millrace
