// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// A model as a directed acyclic graph of ops joined by tensors, with what each op costs. Seconds, bytes, flops.
namespace millrace {

using OpId = std::int32_t;
using TensorId = std::int32_t;

// Seconds somebody stated for an op or a fused group: one number for every device, or one per device kind.
struct StatedSeconds {
  std::optional<double> everywhere;
  std::vector<std::pair<std::string, double>> by_kind;  // ascending by kind, no kind twice

  bool stated() const { return everywhere.has_value() || !by_kind.empty(); }

  // Seconds on a device of this kind; nothing where the kind is not listed: it cannot run there. Only if stated().
  std::optional<double> On(std::string_view kind) const;

  bool operator==(const StatedSeconds&) const = default;
};

struct Op {
  std::string name;
  std::string type;                      // ONNX operator name where there is one
  double flops = 0;                      // floating-point operations of one execution
  double weight_bytes = 0;               // its initializers
  std::optional<double> bytes_accessed;  // memory traffic when run alone, if known better than from its tensors
  StatedSeconds seconds;
  std::string colocate;      // ops with equal non-empty strings share a device
  std::optional<int> layer;  // the model's own layer or stage number

  bool operator==(const Op&) const = default;
};

struct Tensor {
  std::string name;
  OpId producer = -1;           // -1: an input of the graph
  std::vector<OpId> consumers;  // ascending, distinct
  double bytes = 0;             // 0: a control dependency
  bool output = false;          // an output of the graph

  bool operator==(const Tensor&) const = default;
};

// A time stated for a whole fused group, which then takes precedence over the sum of its parts.
struct GroupTime {
  std::vector<OpId> ops;  // ascending, distinct
  StatedSeconds seconds;

  bool operator==(const GroupTime&) const = default;
};

// What a graph is made from: plain data, unchecked.
struct GraphData {
  std::string name;
  std::vector<Op> ops;
  std::vector<Tensor> tensors;
  std::vector<GroupTime> group_seconds;
};

// An immutable, checked graph. Op and tensor ids are indices in the order they were given. Adjacency is kept as
// compressed rows; every span lives as long as the graph.
class ComputationGraph {
 public:
  ComputationGraph() = default;

  // Sorts consumers, group ops and kinds, drops repeated ids, then checks. Throws InvalidInput, naming the op or
  // tensor, for an unknown id, a self-edge, a cycle, a cost that is negative or not finite, or sums past 1e300.
  explicit ComputationGraph(GraphData data);

  const std::string& name() const { return data_.name; }
  int num_ops() const { return static_cast<int>(data_.ops.size()); }
  int num_tensors() const { return static_cast<int>(data_.tensors.size()); }
  const Op& op(OpId id) const { return data_.ops[static_cast<std::size_t>(id)]; }
  const Tensor& tensor(TensorId id) const { return data_.tensors[static_cast<std::size_t>(id)]; }
  const std::vector<Op>& ops() const { return data_.ops; }
  const std::vector<Tensor>& tensors() const { return data_.tensors; }
  const std::vector<GroupTime>& group_seconds() const { return data_.group_seconds; }
  const GraphData& data() const { return data_; }

  std::span<const TensorId> Inputs(OpId id) const { return Row(input_offsets_, inputs_, id); }
  std::span<const TensorId> Outputs(OpId id) const { return Row(output_offsets_, outputs_, id); }
  std::span<const OpId> Predecessors(OpId id) const { return Row(predecessor_offsets_, predecessors_, id); }
  std::span<const OpId> Successors(OpId id) const { return Row(successor_offsets_, successors_, id); }

  // A topological order: the smallest ready id first, so a graph whose ids are in order keeps them.
  std::span<const OpId> topological_order() const { return topological_order_; }

 private:
  static std::span<const std::int32_t> Row(const std::vector<std::int32_t>& offsets,
                                           const std::vector<std::int32_t>& values, std::int32_t row) {
    const std::size_t begin = static_cast<std::size_t>(offsets[static_cast<std::size_t>(row)]);
    const std::size_t end = static_cast<std::size_t>(offsets[static_cast<std::size_t>(row) + 1]);
    return std::span(values).subspan(begin, end - begin);
  }

  void CheckCosts();
  void CheckTensors();
  void CheckGroupSeconds();
  void Connect();

  GraphData data_;
  std::vector<std::int32_t> input_offsets_{0}, inputs_;
  std::vector<std::int32_t> output_offsets_{0}, outputs_;
  std::vector<std::int32_t> predecessor_offsets_{0}, predecessors_;
  std::vector<std::int32_t> successor_offsets_{0}, successors_;
  std::vector<OpId> topological_order_;
};

}  // namespace millrace
