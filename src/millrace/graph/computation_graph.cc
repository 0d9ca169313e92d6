// SPDX-License-Identifier: Apache-2.0
#include "millrace/graph/computation_graph.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>

#include "millrace/errors/errors.h"
#include "millrace/graph/most_total.h"

namespace millrace {
namespace {

constexpr std::size_t kMostIds = 1U << 30;  // ids are 32-bit

std::string Quoted(const std::string& name, std::int32_t id) {
  return name.empty() ? std::to_string(id) : std::to_string(id) + " '" + name + "'";
}

void CheckCost(double value, const std::string& where, const char* what) {
  if (!std::isfinite(value)) throw InvalidInput(where + ": " + what + " is not a finite number");
  if (value < 0) throw InvalidInput(where + ": " + what + " is negative; costs are >= 0");
}

// Also brings the kinds into order.
void CheckSeconds(StatedSeconds& seconds, const std::string& where) {
  std::sort(seconds.by_kind.begin(), seconds.by_kind.end());
  for (std::size_t i = 1; i < seconds.by_kind.size(); ++i) {
    if (seconds.by_kind[i - 1].first == seconds.by_kind[i].first)
      throw InvalidInput(where + ": seconds on '" + seconds.by_kind[i].first + "' are stated twice");
  }
  if (seconds.everywhere) CheckCost(*seconds.everywhere, where, "seconds");
  for (const auto& [kind, value] : seconds.by_kind) CheckCost(value, where, ("seconds on '" + kind + "'").c_str());
}

void SortDistinct(std::vector<OpId>& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

// Refuses sums that leave doubles, or nearly: what is computed of them would be no number.
void CheckSum(double sum, const char* what) {
  if (sum > kMostTotal) throw InvalidInput(std::string("the ") + what + " add up to more than 1e300");
}

// The largest of those stated for a kind.
double MostSeconds(const StatedSeconds& seconds) {
  double most = seconds.everywhere.value_or(0);
  for (const auto& entry : seconds.by_kind) most = std::max(most, entry.second);
  return most;
}

// Compressed rows out of (row, value) pairs that come in any order of rows; values keep their order within a row.
void FillRows(std::size_t rows, const std::vector<std::pair<std::int32_t, std::int32_t>>& pairs,
              std::vector<std::int32_t>& offsets, std::vector<std::int32_t>& values) {
  offsets.assign(rows + 1, 0);
  for (const auto& [row, value] : pairs) ++offsets[static_cast<std::size_t>(row) + 1];
  for (std::size_t row = 0; row < rows; ++row) offsets[row + 1] += offsets[row];
  values.resize(pairs.size());
  std::vector<std::int32_t> next(offsets.begin(), offsets.end() - 1);
  for (const auto& [row, value] : pairs)
    values[static_cast<std::size_t>(next[static_cast<std::size_t>(row)]++)] = value;
}

void SortRowsDistinct(std::vector<std::int32_t>& offsets, std::vector<std::int32_t>& values) {
  std::size_t kept = 0;
  std::size_t begin = 0;
  for (std::size_t row = 0; row + 1 < offsets.size(); ++row) {
    const std::size_t end = static_cast<std::size_t>(offsets[row + 1]);
    std::sort(values.begin() + static_cast<std::ptrdiff_t>(begin), values.begin() + static_cast<std::ptrdiff_t>(end));
    const std::size_t first_kept = kept;
    for (std::size_t i = begin; i < end; ++i) {
      if (kept == first_kept || values[kept - 1] != values[i]) values[kept++] = values[i];
    }
    begin = end;
    offsets[row + 1] = static_cast<std::int32_t>(kept);
  }
  values.resize(kept);
}

}  // namespace

std::optional<double> StatedSeconds::On(std::string_view kind) const {
  if (everywhere) return everywhere;
  const auto found = std::lower_bound(by_kind.begin(), by_kind.end(), kind,
                                      [](const auto& entry, std::string_view wanted) { return entry.first < wanted; });
  if (found == by_kind.end() || found->first != kind) return std::nullopt;
  return found->second;
}

ComputationGraph::ComputationGraph(GraphData data) : data_(std::move(data)) {
  if (data_.ops.size() > kMostIds || data_.tensors.size() > kMostIds)
    throw InvalidInput("the graph has too many ops or tensors");
  CheckCosts();
  CheckTensors();
  CheckGroupSeconds();
  Connect();
}

void ComputationGraph::CheckCosts() {
  for (std::size_t i = 0; i < data_.ops.size(); ++i) {
    Op& op = data_.ops[i];
    const std::string where = "op " + Quoted(op.name, static_cast<OpId>(i));
    CheckCost(op.flops, where, "flops");
    CheckCost(op.weight_bytes, where, "weight_bytes");
    if (op.bytes_accessed) CheckCost(*op.bytes_accessed, where, "bytes_accessed");
    CheckSeconds(op.seconds, where);
  }
  double flops = 0;
  double weights = 0;
  double accessed = 0;
  double seconds = 0;
  for (const Op& op : data_.ops) {
    flops += op.flops;
    weights += op.weight_bytes;
    accessed += op.bytes_accessed.value_or(0);
    seconds += MostSeconds(op.seconds);
  }
  CheckSum(flops, "flops of all ops");
  CheckSum(weights, "weight_bytes of all ops");
  CheckSum(accessed, "bytes_accessed of all ops");
  CheckSum(seconds, "seconds of all ops");
}

void ComputationGraph::CheckTensors() {
  const OpId ops = num_ops();
  std::size_t edges = 0;
  double bytes = 0;  // made, and read by every consumer
  for (std::size_t i = 0; i < data_.tensors.size(); ++i) {
    Tensor& tensor = data_.tensors[i];
    const std::string where = "tensor " + Quoted(tensor.name, static_cast<TensorId>(i));
    CheckCost(tensor.bytes, where, "bytes");
    if (tensor.producer < -1 || tensor.producer >= ops) {
      throw InvalidInput(where + ": its producer, op " + std::to_string(tensor.producer) +
                         ", does not exist; there are ops 0.." + std::to_string(ops - 1));
    }
    SortDistinct(tensor.consumers);
    edges += tensor.consumers.size();
    bytes += tensor.bytes * static_cast<double>(tensor.consumers.size() + 1);
    if (edges > kMostIds) throw InvalidInput("the graph's tensors have too many consumers in all");
    for (const OpId consumer : tensor.consumers) {
      if (consumer < 0 || consumer >= ops) {
        throw InvalidInput(where + ": its consumer, op " + std::to_string(consumer) +
                           ", does not exist; there are ops 0.." + std::to_string(ops - 1));
      }
      if (consumer == tensor.producer) {
        throw InvalidInput(where + ": op " + std::to_string(consumer) + " reads what it makes itself");
      }
    }
  }
  CheckSum(bytes, "bytes of all tensors, once for every consumer,");
}

void ComputationGraph::CheckGroupSeconds() {
  for (std::size_t i = 0; i < data_.group_seconds.size(); ++i) {
    GroupTime& group = data_.group_seconds[i];
    const std::string where = "group_seconds entry " + std::to_string(i);
    SortDistinct(group.ops);
    if (group.ops.empty()) throw InvalidInput(where + " names no ops");
    if (group.ops.front() < 0 || group.ops.back() >= num_ops())
      throw InvalidInput(where + " names an op that does not exist");
    if (!group.seconds.stated()) throw InvalidInput(where + " states no seconds");
    CheckSeconds(group.seconds, where);
  }
}

void ComputationGraph::Connect() {
  const std::size_t ops = data_.ops.size();
  std::vector<std::pair<std::int32_t, std::int32_t>> inputs, outputs, predecessors, successors;
  for (std::size_t i = 0; i < data_.tensors.size(); ++i) {
    const Tensor& tensor = data_.tensors[i];
    const TensorId id = static_cast<TensorId>(i);
    if (tensor.producer >= 0) outputs.emplace_back(tensor.producer, id);
    for (const OpId consumer : tensor.consumers) {
      inputs.emplace_back(consumer, id);
      if (tensor.producer < 0) continue;
      predecessors.emplace_back(consumer, tensor.producer);
      successors.emplace_back(tensor.producer, consumer);
    }
  }
  FillRows(ops, inputs, input_offsets_, inputs_);
  FillRows(ops, outputs, output_offsets_, outputs_);
  FillRows(ops, predecessors, predecessor_offsets_, predecessors_);
  FillRows(ops, successors, successor_offsets_, successors_);
  SortRowsDistinct(predecessor_offsets_, predecessors_);
  SortRowsDistinct(successor_offsets_, successors_);

  std::vector<std::int32_t> waiting(ops);
  std::priority_queue<OpId, std::vector<OpId>, std::greater<>> ready;
  for (std::size_t i = 0; i < ops; ++i) {
    waiting[i] = static_cast<std::int32_t>(Predecessors(static_cast<OpId>(i)).size());
    if (waiting[i] == 0) ready.push(static_cast<OpId>(i));
  }
  topological_order_.reserve(ops);
  while (!ready.empty()) {
    const OpId op = ready.top();
    ready.pop();
    topological_order_.push_back(op);
    for (const OpId successor : Successors(op)) {
      if (--waiting[static_cast<std::size_t>(successor)] == 0) ready.push(successor);
    }
  }
  if (topological_order_.size() == ops) return;
  std::size_t stuck = 0;
  while (waiting[stuck] == 0) ++stuck;
  throw InvalidInput("op " + Quoted(data_.ops[stuck].name, static_cast<OpId>(stuck)) +
                     " lies on a cycle or behind one; a computation graph has none");
}

}  // namespace millrace
