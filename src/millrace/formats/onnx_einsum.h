// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "millrace/formats/model.h"

// What an Einsum's equation says for inputs of given shapes. libonnx 1.12 infers no more of it than the rank.
namespace millrace {

// Every letter, and every dimension that an ellipsis stands for, is a label. A label that no output has is summed over.
struct EinsumLabels {
  std::vector<std::vector<int>> inputs;  // by input, its dimensions' labels
  std::vector<int> output;               // the output's dimensions' labels
  std::vector<std::int64_t> extents;     // by label; where an input has 1 instead, its elements spread

  Shape OutputShape() const;
};

// Nothing where the equation is none or does not fit the shapes. Dimensions of an ellipsis broadcast, and an extent of
// 1 spreads over a larger one of the same letter.
std::optional<EinsumLabels> LabelsOfEinsum(const std::string& equation, const std::vector<Shape>& inputs);

}  // namespace millrace
