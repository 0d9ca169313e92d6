// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "millrace/formats/model.h"

// One elementwise op over a stretch of its output. Kernels of one or several such steps run them block by block, so
// that what one step makes is still in the cache when the next reads it.
namespace millrace {

class ElementwiseStep {
 public:
  virtual ~ElementwiseStep() = default;

  // Makes elements begin..begin+count-1 of the output, begin a multiple of 64. `out` is where element `begin` goes;
  // operands[i] is element `begin` of a full operand (one that lies in memory just as the output does), and the first
  // element of any other.
  virtual void Apply(const std::byte* const* operands, std::byte* out, std::int64_t begin,
                     std::int64_t count) const = 0;

  // Whether zeros give zero, so that the padding of a blocked tensor stays as it has to be.
  virtual bool keeps_zero() const { return false; }
};

// The output's dimensions and, for every operand, its stride in elements along each of them (0 where it repeats).
struct StepShape {
  std::vector<std::int64_t> dims;
  std::vector<std::vector<std::int64_t>> strides;

  std::int64_t elements() const;
  bool full(std::size_t operand) const;
};

// Makes the step of a node, or nullptr where the family has no such op for these types. The shape has one operand per
// input of the node, left-out ones with strides all 0.
using StepMaker = std::unique_ptr<ElementwiseStep> (*)(const Model& model, const Node& node, const StepShape& shape);

std::unique_ptr<ElementwiseStep> MakeUnaryStep(const Model& model, const Node& node, const StepShape& shape);
std::unique_ptr<ElementwiseStep> MakeArithmeticStep(const Model& model, const Node& node, const StepShape& shape);
std::unique_ptr<ElementwiseStep> MakeCompareStep(const Model& model, const Node& node, const StepShape& shape);
std::unique_ptr<ElementwiseStep> MakeCastStep(const Model& model, const Node& node, const StepShape& shape);
std::unique_ptr<ElementwiseStep> MakeSelectStep(const Model& model, const Node& node, const StepShape& shape);
std::unique_ptr<ElementwiseStep> MakeQuantizeStep(const Model& model, const Node& node, const StepShape& shape);
std::unique_ptr<ElementwiseStep> MakeQuantizedSumStep(const Model& model, const Node& node, const StepShape& shape);

// The first of the above that makes one.
std::unique_ptr<ElementwiseStep> MakeStep(const Model& model, const Node& node, const StepShape& shape);

}  // namespace millrace
