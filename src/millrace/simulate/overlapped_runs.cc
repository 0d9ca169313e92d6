// SPDX-License-Identifier: Apache-2.0
#include "millrace/simulate/overlapped_runs.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "millrace/graph/index.h"

namespace millrace {
namespace {

// Appends each row again, its groups counted on from those of the runs before.
void Repeat(int groups, int runs, std::vector<std::int32_t>& offsets, std::vector<GroupEdge>& edges) {
  const std::size_t rows = offsets.size();
  const std::size_t count = edges.size();
  for (int run = 1; run < runs; ++run) {
    for (std::size_t row = 1; row < rows; ++row)
      offsets.push_back(offsets[row] + static_cast<std::int32_t>(Index(run) * count));
    for (std::size_t edge = 0; edge < count; ++edge)
      edges.push_back({edges[edge].group + run * groups, edges[edge].bytes});
  }
}

template <typename T>
void RepeatAll(int runs, std::vector<T>& values) {
  const std::size_t count = values.size();
  values.reserve(count * Index(runs));
  for (int run = 1; run < runs; ++run) {
    for (std::size_t i = 0; i < count; ++i) values.push_back(values[i]);
  }
}

// What simulators read of it; colocations and fusion groups stay those of one run.
CostedGraph SideBySide(const CostedGraph& one, int runs) {
  CostedGraph all = one;
  all.num_groups = one.num_groups * runs;
  RepeatAll(runs, all.seconds);
  Repeat(one.num_groups, runs, all.predecessor_offsets, all.predecessors);
  Repeat(one.num_groups, runs, all.successor_offsets, all.successors);
  const std::size_t readers = one.tensor_readers.size();
  for (int run = 1; run < runs; ++run) {
    for (const std::int32_t group : one.topological_order)
      all.topological_order.push_back(group + run * one.num_groups);
    for (const std::int32_t reader : one.tensor_readers) all.tensor_readers.push_back(reader + run * one.num_groups);
    for (GroupTensor tensor : one.tensors) {
      if (tensor.producer >= 0) tensor.producer += run * one.num_groups;
      tensor.first_reader += static_cast<std::int32_t>(Index(run) * readers);
      all.tensors.push_back(tensor);
    }
  }
  return all;
}

// Seconds of transfers in a run: a tensor goes to each memory once, to the device of its first reader there.
double BusiestChannel(const CostedGraph& costed, const Assignment& assignment) {
  const Topology& topology = costed.topology;
  std::vector<double> busy(std::max<std::size_t>(1, topology.NumChannels()), 0.0);
  std::vector<int> position(Index(costed.num_groups));
  for (int place = 0; place < costed.num_groups; ++place) position[Index(assignment.sequence[Index(place)])] = place;
  std::vector<int> first(Index(topology.num_memories));  // reader by memory; -1: none
  for (const GroupTensor& tensor : costed.tensors) {
    if (tensor.producer < 0) continue;
    std::fill(first.begin(), first.end(), -1);
    for (const std::int32_t reader : costed.Readers(tensor)) {
      int& known = first[Index(topology.memory_of[Index(assignment.placement[Index(reader)])])];
      if (known < 0 || position[Index(reader)] < position[Index(known)]) known = reader;
    }
    const int from = assignment.placement[Index(tensor.producer)];
    for (const int reader : first) {
      if (reader < 0) continue;
      const int to = assignment.placement[Index(reader)];
      const std::size_t pair = topology.Pair(from, to);
      if (topology.free[pair] != 0) continue;
      const double seconds = costed.TransferSeconds(tensor.bytes, from, to);
      busy[Index(topology.channel[pair])] += seconds;
      if (topology.EntryOf(pair) >= 0) busy[Index(topology.EntryOf(pair))] += seconds;
    }
  }
  return *std::max_element(busy.begin(), busy.end());
}

}  // namespace

double PeriodBound(const CostedGraph& costed, const Assignment& assignment) {
  const Topology& topology = costed.topology;
  std::vector<double> busy(Index(topology.num_units), 0.0);
  for (int group = 0; group < costed.num_groups; ++group) {
    const int device = assignment.placement[Index(group)];
    for (std::int32_t u = topology.device_offsets[Index(device)]; u < topology.device_offsets[Index(device) + 1]; ++u)
      busy[Index(topology.device_units[Index(u)])] += costed.Seconds(group, device);
  }
  const double most = busy.empty() ? 0.0 : *std::max_element(busy.begin(), busy.end());
  return topology.proxy == Proxy::kContended ? std::max(most, BusiestChannel(costed, assignment)) : most;
}

OverlappedRuns::OverlappedRuns(const CostedGraph& costed, int runs)
    : one_(costed), runs_(runs), all_(SideBySide(costed, runs)), simulator_(all_) {}

double OverlappedRuns::Period(const Assignment& assignment) {
  if (one_.num_groups == 0) return 0;
  repeated_ = assignment;
  RepeatAll(runs_, repeated_.placement);
  repeated_.sequence.reserve(assignment.sequence.size() * Index(runs_));
  for (int run = 1; run < runs_; ++run) {
    for (const int group : assignment.sequence) repeated_.sequence.push_back(group + run * one_.num_groups);
  }
  simulator_.Run(repeated_, timeline_);
  const auto end_of = [this](int run) {
    const auto begin = timeline_.finish.begin() + static_cast<std::ptrdiff_t>(run) * one_.num_groups;
    return *std::max_element(begin, begin + one_.num_groups);
  };
  const int half = runs_ / 2;
  const double period = (end_of(runs_ - 1) - end_of(runs_ - 1 - half)) / half;
  return std::max(period, PeriodBound(one_, assignment));
}

}  // namespace millrace
