// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "millrace/cost/cost_model.h"
#include "millrace/plan/plan.h"

// A graph with its fusion groups contracted and everything priced: the flat tables that simulation, heuristics, search
// and the learned parts read. Immutable once made; owns all it holds. Seconds, bytes.
namespace millrace {

// One end of an edge between groups. Where several tensors join two groups only the largest matters for time.
struct GroupEdge {
  std::int32_t group = 0;
  double bytes = 0;
};

// A tensor that leaves its group or enters the graph: what lies in memory and travels over links.
struct GroupTensor {
  TensorId tensor = 0;
  std::int32_t producer = -1;  // group; -1: an input of the graph
  double bytes = 0;
  bool output = false;
  std::int32_t first_reader = 0;  // readers of it: tensor_readers[first_reader .. first_reader + num_readers)
  std::int32_t num_readers = 0;   // distinct groups, ascending, the producer left out
};

struct CostedGraph {
  int num_groups = 0;
  int num_devices = 0;
  Topology topology;
  FusionGroups groups;

  std::vector<double> seconds;           // by group * num_devices + device; infinity: cannot run there
  std::vector<double> fastest_seconds;   // by group: on its fastest device, colocation aside
  std::vector<double> least_work;        // by group: least seconds x units of any device, colocation aside
  std::vector<std::int32_t> colocation;  // groups of one number >= 0 share a device; -1: free
  int num_colocations = 0;
  std::vector<double> weight_bytes;  // by group
  std::vector<std::int32_t> layer;   // by group: of its first op that states one; -1: none does

  std::vector<std::int32_t> predecessor_offsets;
  std::vector<GroupEdge> predecessors;  // distinct groups, ascending
  std::vector<std::int32_t> successor_offsets;
  std::vector<GroupEdge> successors;  // distinct groups, ascending
  std::vector<std::int32_t> topological_order;

  std::vector<GroupTensor> tensors;
  std::vector<std::int32_t> tensor_readers;

  bool limited_memory = false;  // some memory is too small for all there is: weights, and every tensor once

  // Groups and edges: what one simulation, or one step of a sampler over all groups, looks at.
  std::int64_t Visits() const { return num_groups + static_cast<std::int64_t>(predecessors.size()); }

  std::span<const GroupEdge> Predecessors(int group) const { return Row(predecessor_offsets, predecessors, group); }
  std::span<const GroupEdge> Successors(int group) const { return Row(successor_offsets, successors, group); }
  std::span<const std::int32_t> Readers(const GroupTensor& tensor) const {
    return std::span(tensor_readers)
        .subspan(static_cast<std::size_t>(tensor.first_reader), static_cast<std::size_t>(tensor.num_readers));
  }
  double Seconds(int group, int device) const {
    return seconds[static_cast<std::size_t>(group) * static_cast<std::size_t>(num_devices) +
                   static_cast<std::size_t>(device)];
  }
  double TransferSeconds(double bytes, int from, int to) const {
    const std::size_t pair = topology.Pair(from, to);
    return topology.latency[pair] + bytes * topology.seconds_per_byte[pair];
  }

 private:
  static std::span<const GroupEdge> Row(const std::vector<std::int32_t>& offsets, const std::vector<GroupEdge>& edges,
                                        int row) {
    const auto begin = static_cast<std::size_t>(offsets[static_cast<std::size_t>(row)]);
    return std::span(edges).subspan(begin,
                                    static_cast<std::size_t>(offsets[static_cast<std::size_t>(row) + 1]) - begin);
  }
};

// Prices the graph the model was made for. The groups must satisfy WhyNotGroups. Throws InvalidInput where legal groups
// depend on each other or all times together may pass kMostTotal (graph/most_total.h), and WorkFailed where a group, or
// the groups that must share a device, can run nowhere.
CostedGraph MakeCostedGraph(const CostModel& model, FusionGroups groups);

}  // namespace millrace
