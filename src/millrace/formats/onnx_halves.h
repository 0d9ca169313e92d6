// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/formats/model.h"
#include "millrace/formats/onnx_proto.h"

// Models in float16 and bfloat16 are read as float32: the kernels of the runtime compute in float32, and widening loses
// nothing. Results are then not rounded to halves between the nodes, which makes them more exact, not equal.
namespace millrace {

// Makes every stated type, every attribute that names a type, and every tensor inside a control-flow body float32 where
// it is one of the two. The model's own tensors are left: they are widened with Widened once they are read. True where
// there was anything to widen.
bool WidenHalves(onnx::ModelProto& model);

}  // namespace millrace
