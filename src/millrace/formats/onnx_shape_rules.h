// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "millrace/formats/model.h"

// Types and shapes of the outputs of nodes for which libonnx 1.12 has no rule: operators that opsets 18 to 22 brought
// or changed (see onnx_newer.h), and Einsum. Source: the operators' definitions in ONNX 1.17.
namespace millrace {

using TypedShape = std::pair<DataType, Shape>;

// One entry per output of the node, in order, for inputs whose types and shapes are known (nullptr: left out). Nothing
// where there is no rule for the node or its outputs depend on an input that is no constant. Throws InvalidInput where
// inputs and attributes contradict each other.
std::optional<std::vector<TypedShape>> ShapesByRule(const Node& node, const std::vector<const Value*>& inputs);

}  // namespace millrace
