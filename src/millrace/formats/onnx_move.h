// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "millrace/formats/model.h"

// Evaluation of the ONNX ops that only move elements (reshapes, Transpose, Expand, Gather, Concat, Slice) on constants
// of any element type. A filled constant stays filled where the result is.
namespace millrace {

using ConstantPointer = std::shared_ptr<const ConstantData>;

// Is there a chance of a result below? Cheap, by name.
bool OnlyMoves(const Node& node);

// The node's output for these inputs (nullptr: left out), or nullptr where this form of the op is not evaluated here or
// the result is larger than a weight should be. Throws InvalidInput for contradictory inputs.
ConstantPointer EvaluateMove(const Node& node, const std::vector<ConstantPointer>& inputs);

// Integers that newer opsets give as input `index` and older ones as an attribute; nothing where neither is there.
// Throws InvalidInput where that input holds no short list of integers.
std::optional<std::vector<std::int64_t>> IntegersOf(const Node& node, const std::vector<ConstantPointer>& inputs,
                                                    std::size_t index, const std::string& attribute);

// `axis` counted from the front. Throws InvalidInput where there is no such axis among `rank`.
std::size_t AxisOf(const Node& node, std::int64_t axis, std::size_t rank);

// The shape both spread to. Throws InvalidInput where they do not fit or the result is too large.
Shape BroadcastShape(const Node& node, const Shape& left, const Shape& right);

// For each element of `to`, in order, the index of the element of `from` that broadcasting puts there.
std::vector<std::size_t> BroadcastIndices(const Shape& from, const Shape& to);

// "node 'x' (Op)".
std::string NodeLabel(const Node& node);

}  // namespace millrace
