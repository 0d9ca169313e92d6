// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "millrace/formats/model.h"
#include "millrace/graph/computation_graph.h"

// A training graph while it is being recorded: which tensor holds each value of the forward model, and the gradients
// that have been handed back to it so far (reverse-mode automatic differentiation). Flops, bytes.
namespace millrace {

// One op to record. Its results are tensors named after it.
struct TapeOp {
  std::string type;
  std::string role;  // what it does for its forward node: "/grad/input"
  double flops = 0;
  std::vector<TensorId> reads;  // those that are -1 are left out
  std::vector<double> makes;    // bytes of each result
  std::optional<double> bytes_accessed;
};

class TrainingTape {
 public:
  // `model` outlives the tape.
  explicit TrainingTape(const Model& model);

  const Value& ValueOf(int value) const { return model_.values[static_cast<std::size_t>(value)]; }
  const Shape& ShapeOf(int value) const { return ValueOf(value).shape; }
  double ElementsOf(int value) const;
  double SizeOf(int value) const;  // bytes, also of its gradient

  // The value as a tensor of the graph; -1 where it is none: constants that are not trained, inputs left out.
  TensorId TensorOf(int value) const { return value < 0 ? -1 : tensors_[static_cast<std::size_t>(value)]; }
  void SetTensor(int value, TensorId tensor) { tensors_[static_cast<std::size_t>(value)] = tensor; }

  // Values that weights have a part in: only they are handed gradients.
  bool Wanted(int value) const { return value >= 0 && wanted_[static_cast<std::size_t>(value)] != 0; }
  void Want(int value) { wanted_[static_cast<std::size_t>(value)] = 1; }

  // Ops recorded from here on are those of this node: they take its layer, and its name in front of their role.
  void BeginNode(const Node& node) { node_ = &node; }
  // Returns the results.
  std::vector<TensorId> Record(const TapeOp& op);

  // Adds to the gradient of a wanted value. Sums are made at once, so that weights of an unrolled network keep one
  // running sum and not a gradient for every step. Precondition: gradient >= 0.
  void Hand(int value, TensorId gradient);
  // -1: it was handed nothing.
  TensorId GradientOf(int value) const { return value < 0 ? -1 : gradients_[static_cast<std::size_t>(value)]; }

  // Lower level: the pieces that the above are made of.
  OpId AddOp(Op op, const std::vector<TensorId>& reads);
  TensorId AddTensor(std::string name, OpId producer, double bytes);
  void MarkOutput(TensorId tensor) { data_.tensors[static_cast<std::size_t>(tensor)].output = true; }

  // Once, at the end. Throws InvalidInput for what is no graph.
  ComputationGraph Finish() { return ComputationGraph(std::move(data_)); }

 private:
  const Model& model_;
  GraphData data_;
  const Node* node_ = nullptr;
  std::vector<TensorId> tensors_;    // by value
  std::vector<TensorId> gradients_;  // by value
  std::vector<char> wanted_;         // by value
  std::vector<int> sums_;            // by value: made of its gradient
};

}  // namespace millrace
