// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/formats/model.h"
#include "millrace/formats/onnx_draft.h"
#include "millrace/formats/onnx_proto.h"

// A Model as an ONNX message.
namespace millrace {

// For a file: all constants with their elements, large filled ones as ConstantOfShape nodes, which the importer folds
// back; every shape stated. Throws WorkFailed for what a message cannot hold.
onnx::ModelProto MessageOf(const Model& model);

// For libonnx's checker and shape inference: only constants that shapes may depend on come with elements, the others
// become inputs. States the shapes that are known, and of the model's outputs only the names.
onnx::ModelProto SketchOf(const OnnxDraft& draft);

}  // namespace millrace
