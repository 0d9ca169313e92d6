// SPDX-License-Identifier: Apache-2.0
#include "tests/reference/slow_clock.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace millrace::testing {

SlowClock::SlowClock(const CostedGraph& costed, const Assignment& assignment)
    : costed_(costed), assignment_(assignment) {
  const auto groups = static_cast<std::size_t>(costed.num_groups);
  place_.resize(groups);
  for (std::size_t i = 0; i < groups; ++i)
    place_[static_cast<std::size_t>(assignment.sequence[i])] = static_cast<int>(i);
  timeline_.start.assign(groups, SlowTransfer::kNever);
  timeline_.finish.assign(groups, SlowTransfer::kNever);
  const Topology& topology = costed.topology;
  for (const GroupTensor& tensor : costed.tensors) {
    for (int memory = 0; memory < topology.num_memories && tensor.producer >= 0; ++memory) {
      const int from = DeviceOf(tensor.producer);
      int first = -1;
      for (const std::int32_t reader : costed.Readers(tensor)) {
        const int to = DeviceOf(reader);
        if (topology.memory_of[static_cast<std::size_t>(to)] != memory || topology.free[topology.Pair(from, to)])
          continue;
        if (first < 0 || place_[static_cast<std::size_t>(reader)] < place_[static_cast<std::size_t>(first)])
          first = reader;
      }
      if (first < 0) continue;
      transfers_.push_back({&tensor, place_[static_cast<std::size_t>(tensor.producer)], memory, from, DeviceOf(first)});
    }
  }
  std::sort(transfers_.begin(), transfers_.end(), [](const SlowTransfer& a, const SlowTransfer& b) {
    return std::tuple(a.place, a.tensor->tensor, a.memory) < std::tuple(b.place, b.tensor->tensor, b.memory);
  });
}

int SlowClock::DeviceOf(int group) const { return assignment_.placement[static_cast<std::size_t>(group)]; }

double SlowClock::Ready(const SlowTransfer& transfer) const {
  return timeline_.finish[static_cast<std::size_t>(transfer.tensor->producer)];
}

bool SlowClock::ShareAUnit(int a, int b) const {
  const auto units = costed_.topology.UnitsAt(a), others = costed_.topology.UnitsAt(b);
  return std::any_of(units.begin(), units.end(),
                     [&](std::int32_t unit) { return std::find(others.begin(), others.end(), unit) != others.end(); });
}

bool SlowClock::CanStart(int group, double now) const {
  const Topology& topology = costed_.topology;
  for (int i = 0; i < place_[static_cast<std::size_t>(group)]; ++i) {
    const int earlier = assignment_.sequence[static_cast<std::size_t>(i)];
    if (ShareAUnit(DeviceOf(earlier), DeviceOf(group)) && timeline_.finish[static_cast<std::size_t>(earlier)] > now)
      return false;
  }
  for (const GroupTensor& tensor : costed_.tensors) {
    const auto readers = costed_.Readers(tensor);
    if (tensor.producer < 0 || std::find(readers.begin(), readers.end(), group) == readers.end()) continue;
    if (timeline_.finish[static_cast<std::size_t>(tensor.producer)] > now) return false;
    if (topology.free[topology.Pair(DeviceOf(tensor.producer), DeviceOf(group))]) continue;
    const int memory = topology.memory_of[static_cast<std::size_t>(DeviceOf(group))];
    const auto missing = [&](const SlowTransfer& transfer) {
      return transfer.tensor == &tensor && transfer.memory == memory && transfer.end > now;
    };
    if (std::any_of(transfers_.begin(), transfers_.end(), missing)) return false;
  }
  return true;
}

double SlowClock::StartGroups(double now) {
  double next = SlowTransfer::kNever;
  for (int group = 0; group < costed_.num_groups; ++group) {
    const auto g = static_cast<std::size_t>(group);
    if (timeline_.start[g] == SlowTransfer::kNever && CanStart(group, now)) {
      timeline_.start[g] = now;
      timeline_.finish[g] = now + costed_.Seconds(group, DeviceOf(group));
      timeline_.makespan = std::max(timeline_.makespan, timeline_.finish[g]);
    }
    if (timeline_.finish[g] > now) next = std::min(next, timeline_.finish[g]);
  }
  return next;
}

ComputationGraph LastingGraph(Random& random, const RandomProblemOptions& options) {
  GraphData data = RandomGraph(random, options).data();
  for (Op& op : data.ops) {
    op.seconds.by_kind.clear();
    op.seconds.everywhere = 0.5 * static_cast<double>(1 + random.Below(6));
  }
  data.group_seconds.clear();
  return ComputationGraph(std::move(data));
}

}  // namespace millrace::testing
