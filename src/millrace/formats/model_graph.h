// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/formats/model.h"
#include "millrace/graph/computation_graph.h"

// From a model to the graph that plans are made for.
namespace millrace {

// Op i is node i; its flops and weight bytes come from the shapes. Tensors are the values that nodes read or make,
// without constants, in this order: the model's inputs, then each node's outputs. Throws InvalidInput.
ComputationGraph GraphOfModel(const Model& model);

}  // namespace millrace
