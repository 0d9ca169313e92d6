// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/formats/model.h"
#include "millrace/graph/computation_graph.h"

// One step of training a model, as a graph to plan: forward, loss, backward, update. Flops, bytes.
//
// Weights (float constants with a shape, but for batch normalisation's statistics) are ops of type Variable: no flops,
// the optimizer's two slots (Adam: Kingma, Ba 2015) as weight_bytes, and the weight itself as their result, read by
// every use and kept to the step's end; uses at several time steps share it. Where the loss depends on it, one
// ApplyAdam updates it in place, colocated with it by the weight's name.
//
// Every output of the model is trained against labels, a new input, by SoftmaxCrossEntropyLoss over its classes (the
// second dimension of four, otherwise the last); their sum is the graph's output `loss`. Each forward op between a
// weight and the loss has its backward ops (gradient_rules.h), named NODE/grad/..., with its layer. Gradients of a
// value read more than once are added up by Sum, two at a time. Batch normalisation becomes BatchNormalizationTraining,
// which makes its own statistics and therefore fuses with nothing.
//
// What the backward ops read of the forward ones stays alive until then, as in any framework: activations dominate the
// memory.
namespace millrace {

// Op ids are in execution order. The model's nodes are in topological order and its shapes known, as in every Model.
// Throws InvalidInput where no output depends on a weight.
ComputationGraph TrainingGraphOf(const Model& model);

}  // namespace millrace
