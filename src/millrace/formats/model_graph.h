// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/formats/model.h"
#include "millrace/graph/computation_graph.h"

// From a model to the graph that plans are made for.
namespace millrace {

// Op i is node i: its type is the operator (with "domain::" before it where that is not ONNX's own), its name the
// node's or, where that is empty, "type_i"; flops come from the shapes (model_flops.h), weight bytes are those of the
// distinct constants it reads, bytes_accessed is stated where the sum of its tensors would be far off. Tensors are the
// values that nodes read or make and outputs of the model, without constants, in this order: the model's inputs, then
// each node's outputs. Throws InvalidInput.
ComputationGraph GraphOfModel(const Model& model);

}  // namespace millrace
