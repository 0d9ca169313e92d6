// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "millrace/runtime/kernel.h"
#include "millrace/runtime/work_share.h"

// What the kernels of light ops share: finding their operands, attributes and axes.
namespace millrace {

// How many elements of a type fill a cache line.
std::int64_t LineElements(DataType type);

// A kernel for a group of one node, all tensors plain. A derived constructor says with ReadInput which of the node's
// inputs it reads while running; constant ones are copied into the kernel.
class OneNodeKernel : public Kernel {
 protected:
  explicit OneNodeKernel(const KernelRequest& request);

  void ReadInput(int i);

  bool HasInput(int i) const;
  bool HasOutput(int i) const;
  const Value& InputValue(int i) const;
  const Value& OutputValue(int i) const;

  const std::byte* In(const KernelBuffers& buffers, int i) const {
    const Operand& operand = operands_[static_cast<std::size_t>(i)];
    return operand.slot >= 0 ? buffers.inputs[operand.slot] : operand.constant.get();
  }
  std::byte* Out(const KernelBuffers& buffers, int i) const {
    const int slot = output_slots_[static_cast<std::size_t>(i)];
    return slot >= 0 ? buffers.outputs[slot] : nullptr;
  }

  // For constructors only: the kernel may outlive the model.
  const KernelRequest& request_;
  const Model& model_;
  const Node& node_;

  int workers_;

 private:
  struct Operand {
    int slot = -1;
    std::shared_ptr<const std::byte> constant;
  };
  std::vector<Operand> operands_;
  std::vector<int> output_slots_;
};

// All elements of a constant value, row-major; shared with the other holders where the request has a weight cache.
std::shared_ptr<const std::byte> HoldConstant(const KernelRequest& request, int value);

// The value of input `i`, or nullptr where it is left out.
const Value* InputOf(const Model& model, const Node& node, int i);

// The value of output `i`, or nullptr where it is left out.
const Value* OutputOf(const Model& model, const Node& node, int i);

// Reads the integers of input `i` into `values`; false where it is left out or no constant.
bool ConstantInts(const Model& model, const Node& node, int i, std::vector<std::int64_t>& values);

// axis + rank where negative. Throws InvalidInput where it lies outside the rank.
std::int64_t PositiveAxis(const Node& node, std::int64_t axis, std::size_t rank);

// Row-major strides, in elements.
std::vector<std::int64_t> StridesOf(const Shape& shape);

}  // namespace millrace
