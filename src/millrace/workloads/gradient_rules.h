// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/formats/model.h"
#include "millrace/workloads/training_tape.h"

// How each operator takes gradients back.
//
//   MatMul, Gemm           a MatMul for each factor; ReduceSum for Gemm's bias
//   Conv                   ConvGradInput, ConvGradWeight, as many flops each as the convolution; ReduceSum for its bias
//   Add, Sub, Sum          the gradient itself; ReduceSum where the input was broadcast, Neg where it was subtracted
//   Mul, Div               an op for each factor, with a ReduceSum where it was broadcast
//   one-input elementwise  one op, TYPEGrad, that reads the gradient and the input or output that was kept; Softmax,
//   too normalisations         one op for data, scale and shift poolings, ReduceMean   one op Concat <-> Split, Slice
//   -> Pad, Reshape and its like -> Reshape, Transpose -> Transpose, Gather -> GatherGrad any other              one
//   op, TYPEGrad, that reads and has twice the flops of the forward op
//
// An Identity named "stop_gradient" (after its stage) passes nothing: ONNX has no operator for it.
namespace millrace {

// Records what takes the gradients of the node's outputs, where there are any, back to those of its inputs that want
// theirs. The tape has begun this node, and all readers of its outputs were taken back before.
void TakeBack(TrainingTape& tape, const Model& model, const Node& node);

// Is it an Identity that passes no gradient?
bool StopsGradient(const Node& node);

}  // namespace millrace
