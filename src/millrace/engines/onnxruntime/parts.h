// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "millrace/engines/onnxruntime/stretches.h"
#include "millrace/formats/model.h"

// A model in parts, each a model of its own: what an engine that runs whole models is given of a plan.
namespace millrace {

// What goes into a part and comes out of it, as values of the whole model.
struct PartBorder {
  std::vector<int> inputs;   // made elsewhere or inputs of the model, constants left out; ascending, distinct
  std::vector<int> outputs;  // read elsewhere or outputs of the model; ascending, distinct
};

// The border of each set of nodes, in their order. Every node is in at most one of them. Values that are read by a node
// in none of them leave their part too. A value that nobody reads and that is no output stays inside, unless its part
// would then have no output.
std::vector<PartBorder> BordersOf(const Model& model, const std::vector<std::vector<OpId>>& parts);

// The nodes (ascending) as a model, with the constants they read. Its inputs and outputs are those of the border, in
// that order, under their names.
Model PartModel(const Model& model, std::span<const OpId> nodes, const PartBorder& border);

}  // namespace millrace
