// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/formats/onnx_draft.h"

// Quantised models say with pairs of QuantizeLinear and DequantizeLinear around each operator ("QDQ") that it may be
// computed on 8-bit integers. Here each such pattern becomes the operator that does so, as other runtimes do when they
// load a model: Conv becomes QLinearConv, MatMul QLinearMatMul, and in ONNX Runtime's own domain Gemm QGemm, Add
// QLinearAdd, and averages QLinearAveragePool and QLinearGlobalAveragePool. MaxPool, Concat and ops that only move
// elements, one or several in a row, work on the integers where scale and zero point are the same before and behind
// them.
namespace millrace {

// For drafts whose shapes are known and constants folded. A Relu or Clip in between goes where the stored range does
// its work. An operator is left as it is where its weights or a scale are computed, its input or result is not of 8
// bits, or somebody else reads what lies in between; its constant weights are then made float32. What the patterns were
// made of stays for DropDead. Returns how many operators were replaced. Sources: the operators of ONNX and of ONNX
// Runtime.
int JoinQuantized(OnnxDraft& draft);

}  // namespace millrace
