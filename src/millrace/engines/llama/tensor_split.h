// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

// llama.cpp's --tensor-split, and its inverse. It takes shares, sums them up to points between 0 and 1 in single
// precision, and gives part i of n (the layers, then the output) to the first device whose point lies above i / n: it
// rounds by where a part starts. (llama_model_base::load_tensors in its src/llama-model.cpp.)
namespace millrace {

// How many of `parts` parts each device gets.
std::vector<int> PartsPerDevice(const std::vector<float>& tensor_split, int parts);

// Shares that give each device just so many parts, "11.5/4/1.5": every point lies halfway between two starts, where no
// rounding reaches it. Counts are >= 0, and at least one is more.
std::string TensorSplitFor(const std::vector<int>& counts);

// The shares in such a text; nothing where it is none.
std::vector<float> ParseTensorSplit(const std::string& text);

}  // namespace millrace
