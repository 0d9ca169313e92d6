// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/formats/model.h"

// A model as quantisation tools write it ("QDQ"): pairs of QuantizeLinear and DequantizeLinear around every Conv, and
// around every Gemm and MatMul with constant weights, so that runtimes may compute them on 8-bit integers.
//
// Weights are int8 of seven bits, which are exact on processors without VNNI, too, one scale for each output channel or
// column. Inputs and results are uint8; what they can hold is not measured but set: -8 to 8, behind a Relu 0 to 8,
// behind a Clip from 0 on what it leaves. Good for timing, not for accuracy.
namespace millrace {

// The model's nodes are in topological order and its shapes known, as in every Model; its opset is 13 or newer.
Model QuantizedForm(const Model& model);

}  // namespace millrace
