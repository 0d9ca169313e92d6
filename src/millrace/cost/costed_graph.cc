// SPDX-License-Identifier: Apache-2.0
#include "millrace/cost/costed_graph.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <string_view>
#include <unordered_map>

#include "millrace/errors/errors.h"
#include "millrace/graph/most_total.h"

namespace millrace {
namespace {

struct Contraction {
  const ComputationGraph& graph;
  std::vector<std::int32_t> group_of;
};

void AddTensors(const Contraction& contraction, CostedGraph& costed) {
  for (TensorId id = 0; id < contraction.graph.num_tensors(); ++id) {
    const Tensor& tensor = contraction.graph.tensor(id);
    GroupTensor entry;
    entry.tensor = id;
    entry.producer = tensor.producer < 0 ? -1 : contraction.group_of[static_cast<std::size_t>(tensor.producer)];
    entry.bytes = tensor.bytes;
    entry.output = tensor.output;
    entry.first_reader = static_cast<std::int32_t>(costed.tensor_readers.size());
    for (const OpId consumer : tensor.consumers) {
      const std::int32_t group = contraction.group_of[static_cast<std::size_t>(consumer)];
      if (group != entry.producer) costed.tensor_readers.push_back(group);
    }
    const auto begin = costed.tensor_readers.begin() + entry.first_reader;
    std::sort(begin, costed.tensor_readers.end());
    costed.tensor_readers.erase(std::unique(begin, costed.tensor_readers.end()), costed.tensor_readers.end());
    entry.num_readers = static_cast<std::int32_t>(costed.tensor_readers.size()) - entry.first_reader;
    const bool inner = entry.num_readers == 0 && !tensor.consumers.empty() && !tensor.output;
    if (!inner) costed.tensors.push_back(entry);
  }
}

// Both ways of the edges, as they are met.
template <typename Visit>
void VisitEdges(const CostedGraph& costed, const Visit& visit) {
  for (const GroupTensor& tensor : costed.tensors) {
    if (tensor.producer < 0) continue;
    for (const std::int32_t reader : costed.Readers(tensor)) visit(tensor.producer, reader, tensor.bytes);
  }
}

// Ascending rows, the largest of parallel edges kept. `offsets` are those of the rows as they are.
void TidyRows(std::vector<std::int32_t>& offsets, std::vector<GroupEdge>& edges) {
  std::size_t kept = 0, begin = 0;
  for (std::size_t row = 0; row + 1 < offsets.size(); ++row) {
    const auto end = static_cast<std::size_t>(offsets[row + 1]);
    const auto before = [](const GroupEdge& a, const GroupEdge& b) {
      return a.group != b.group ? a.group < b.group : a.bytes > b.bytes;
    };
    const auto first = edges.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = edges.begin() + static_cast<std::ptrdiff_t>(end);
    if (!std::is_sorted(first, last, before)) std::sort(first, last, before);
    const std::size_t row_begin = kept;
    for (std::size_t i = begin; i < end; ++i) {
      if (kept == row_begin || edges[kept - 1].group != edges[i].group) edges[kept++] = edges[i];
    }
    begin = end;
    offsets[row + 1] = static_cast<std::int32_t>(kept);
  }
  edges.resize(kept);
}

// Large graphs have millions of edges, and fresh memory is what they cost most, so rows are filled where they stay.
void AddEdges(CostedGraph& costed) {
  const std::size_t rows = static_cast<std::size_t>(costed.num_groups) + 1;
  costed.predecessor_offsets.assign(rows, 0);
  costed.successor_offsets.assign(rows, 0);
  VisitEdges(costed, [&costed](std::int32_t producer, std::int32_t reader, double) {
    ++costed.predecessor_offsets[static_cast<std::size_t>(reader) + 1];
    ++costed.successor_offsets[static_cast<std::size_t>(producer) + 1];
  });
  const auto sum_up = [](std::vector<std::int32_t>& offsets) {
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    return std::vector<std::int32_t>(offsets.begin(), offsets.end() - 1);
  };
  std::vector<std::int32_t> next_predecessor = sum_up(costed.predecessor_offsets);
  std::vector<std::int32_t> next_successor = sum_up(costed.successor_offsets);
  costed.predecessors.resize(static_cast<std::size_t>(costed.predecessor_offsets.back()));
  costed.successors.resize(static_cast<std::size_t>(costed.successor_offsets.back()));
  const auto put = [](std::vector<GroupEdge>& edges, std::int32_t& next, std::int32_t group, double bytes) {
    edges[static_cast<std::size_t>(next++)] = {group, bytes};
  };
  VisitEdges(costed, [&](std::int32_t producer, std::int32_t reader, double bytes) {
    put(costed.predecessors, next_predecessor[static_cast<std::size_t>(reader)], producer, bytes);
    put(costed.successors, next_successor[static_cast<std::size_t>(producer)], reader, bytes);
  });
  TidyRows(costed.predecessor_offsets, costed.predecessors);
  TidyRows(costed.successor_offsets, costed.successors);
}

void SortGroups(CostedGraph& costed) {
  std::vector<std::int32_t> waiting(static_cast<std::size_t>(costed.num_groups));
  std::priority_queue<std::int32_t, std::vector<std::int32_t>, std::greater<>> ready;
  for (std::int32_t g = 0; g < costed.num_groups; ++g) {
    waiting[static_cast<std::size_t>(g)] = static_cast<std::int32_t>(costed.Predecessors(g).size());
    if (waiting[static_cast<std::size_t>(g)] == 0) ready.push(g);
  }
  while (!ready.empty()) {
    const std::int32_t group = ready.top();
    ready.pop();
    costed.topological_order.push_back(group);
    for (const GroupEdge& edge : costed.Successors(group)) {
      if (--waiting[static_cast<std::size_t>(edge.group)] == 0) ready.push(edge.group);
    }
  }
  if (costed.topological_order.size() == waiting.size()) return;
  std::size_t stuck = 0;
  while (waiting[stuck] == 0) ++stuck;
  throw InvalidInput("group " + std::to_string(stuck) +
                     " depends on itself through other groups: no order of these fusion groups exists");
}

// Ops with one colocation string tie their groups together, and a group with two strings ties both.
void Colocate(const Contraction& contraction, CostedGraph& costed) {
  std::vector<std::int32_t> parent(static_cast<std::size_t>(costed.num_groups));
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&parent](std::int32_t g) {
    while (parent[static_cast<std::size_t>(g)] != g) {
      parent[static_cast<std::size_t>(g)] = parent[static_cast<std::size_t>(parent[static_cast<std::size_t>(g)])];
      g = parent[static_cast<std::size_t>(g)];
    }
    return g;
  };
  std::vector<char> tied(parent.size(), 0);
  std::unordered_map<std::string_view, std::int32_t> first_of;
  for (OpId op = 0; op < contraction.graph.num_ops(); ++op) {
    const std::string& name = contraction.graph.op(op).colocate;
    if (name.empty()) continue;
    const std::int32_t group = contraction.group_of[static_cast<std::size_t>(op)];
    const auto [entry, first] = first_of.emplace(name, group);
    if (entry->second == group) continue;
    tied[static_cast<std::size_t>(group)] = tied[static_cast<std::size_t>(entry->second)] = 1;
    parent[static_cast<std::size_t>(root(group))] = root(entry->second);
  }
  costed.colocation.assign(parent.size(), -1);
  std::vector<std::int32_t> number(parent.size(), -1);
  for (std::int32_t g = 0; g < costed.num_groups; ++g) {
    if (tied[static_cast<std::size_t>(g)] == 0) continue;
    std::int32_t& own = number[static_cast<std::size_t>(root(g))];
    if (own < 0) own = costed.num_colocations++;
    costed.colocation[static_cast<std::size_t>(g)] = own;
  }
}

// A device that one group of a colocation cannot use is closed to all of them.
void CloseDevices(CostedGraph& costed) {
  const auto devices = static_cast<std::size_t>(costed.num_devices);
  std::vector<char> closed(static_cast<std::size_t>(costed.num_colocations) * devices, 0);
  const auto for_all_colocated = [&](const auto& visit) {
    for (std::size_t g = 0; g < costed.colocation.size(); ++g) {
      if (costed.colocation[g] < 0) continue;
      for (std::size_t d = 0; d < devices; ++d)
        visit(closed[static_cast<std::size_t>(costed.colocation[g]) * devices + d], costed.seconds[g * devices + d]);
    }
  };
  for_all_colocated(
      [](char& is_closed, double& seconds) { is_closed = static_cast<char>(is_closed != 0 || seconds == kCannotRun); });
  for_all_colocated([](char& is_closed, double& seconds) {
    if (is_closed != 0) seconds = kCannotRun;
  });
  for (std::size_t g = 0; g < costed.colocation.size(); ++g) {
    const auto begin = costed.seconds.begin() + static_cast<std::ptrdiff_t>(g * devices);
    if (std::all_of(begin, begin + static_cast<std::ptrdiff_t>(devices), [](double s) { return s == kCannotRun; })) {
      throw WorkFailed("op " + std::to_string(costed.groups[g].front()) +
                       (costed.colocation[g] < 0 ? "" : ", with the ops it must share a device with,") +
                       " can run on no device of this machine");
    }
  }
}

// More than any plan has on any memory, however bytes are summed up.
double BytesOfEverything(const CostedGraph& costed) {
  constexpr double kSummedOtherwise = 1 + 1e-9;
  double bytes = 0;
  for (const double weights : costed.weight_bytes) bytes += weights;
  for (const GroupTensor& tensor : costed.tensors) bytes += tensor.bytes;
  return bytes * kSummedOtherwise;
}

// Everything one after the other, each group on its slowest device and each edge over the worst link, is later than any
// timeline ends.
void CheckSeconds(const CostedGraph& costed) {
  const auto devices = static_cast<std::size_t>(costed.num_devices);
  double seconds = 0;
  for (std::size_t g = 0; g < costed.groups.size(); ++g) {
    double slowest = 0;
    for (std::size_t d = 0; d < devices; ++d) {
      const double here = costed.seconds[g * devices + d];
      if (here != kCannotRun) slowest = std::max(slowest, here);
    }
    seconds += slowest;
  }
  const auto worst = [](const std::vector<double>& of_pairs) {
    return of_pairs.empty() ? 0.0 : *std::max_element(of_pairs.begin(), of_pairs.end());
  };
  const double latency = worst(costed.topology.latency);
  const double seconds_per_byte = worst(costed.topology.seconds_per_byte);
  for (const GroupEdge& edge : costed.successors) seconds += latency + edge.bytes * seconds_per_byte;
  if (seconds <= kMostTotal) return;
  throw InvalidInput(
      "on this machine the ops and transfers of the graph could take more than 1e300 s together; check their costs and "
      "the rates and links of the machine");
}

std::int32_t LayerOf(const ComputationGraph& graph, const std::vector<OpId>& group) {
  for (const OpId op : group) {
    if (graph.op(op).layer) return *graph.op(op).layer;
  }
  return -1;
}

}  // namespace

CostedGraph MakeCostedGraph(const CostModel& model, FusionGroups groups) {
  CostedGraph costed;
  costed.topology = model.topology();
  costed.num_devices = costed.topology.num_devices;
  costed.num_groups = static_cast<int>(groups.size());
  costed.groups = std::move(groups);
  Contraction contraction{model.graph(), std::vector<std::int32_t>(static_cast<std::size_t>(model.graph().num_ops()))};
  for (std::size_t g = 0; g < costed.groups.size(); ++g) {
    for (const OpId op : costed.groups[g])
      contraction.group_of[static_cast<std::size_t>(op)] = static_cast<std::int32_t>(g);
  }
  AddTensors(contraction, costed);
  AddEdges(costed);
  SortGroups(costed);
  Colocate(contraction, costed);
  costed.seconds.reserve(costed.groups.size() * static_cast<std::size_t>(costed.num_devices));
  for (const std::vector<OpId>& group : costed.groups) {
    double weights = 0;
    for (const OpId op : group) weights += model.graph().op(op).weight_bytes;
    costed.weight_bytes.push_back(weights);
    costed.layer.push_back(LayerOf(model.graph(), group));
    double fastest = std::numeric_limits<double>::infinity();
    double least_work = fastest;
    for (int device = 0; device < costed.num_devices; ++device) {
      const double seconds = model.GroupSeconds(group, device);
      costed.seconds.push_back(seconds);
      fastest = std::min(fastest, seconds);
      least_work = std::min(least_work, seconds * costed.topology.UnitsOf(device));
    }
    costed.fastest_seconds.push_back(fastest);
    costed.least_work.push_back(least_work);
  }
  CloseDevices(costed);
  CheckSeconds(costed);
  costed.limited_memory =
      std::any_of(costed.topology.memory_bytes.begin(), costed.topology.memory_bytes.end(),
                  [everything = BytesOfEverything(costed)](double bytes) { return bytes < everything; });
  return costed;
}

}  // namespace millrace
