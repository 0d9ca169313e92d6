// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "millrace/formats/model.h"

// Evaluation of single ONNX nodes on small constants: the arithmetic that exporters spend on shapes.
namespace millrace {

// Larger constants are left to the runtime.
inline constexpr std::int64_t kMostSmallElements = 65536;

// The node's only output for these inputs (nullptr: left out), or nothing where the op, a type or a size is not one
// that is evaluated here. `opset` is that of the ONNX domain. Throws InvalidInput for contradictory inputs.
std::shared_ptr<const ConstantData> EvaluateSmall(const Node& node, std::int64_t opset,
                                                  const std::vector<std::shared_ptr<const ConstantData>>& inputs);

}  // namespace millrace
