// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/formats/onnx_draft.h"
#include "millrace/formats/onnx_proto.h"
#include "millrace/formats/onnx_shape_rules.h"

// A body of a control-flow node as a model of its own.
namespace millrace {

// The body in the attribute of this name. Throws InvalidInput where there is none.
onnx::GraphProto BodyOf(const Node& node, const std::string& attribute);

// What the body captures become inputs or, where they are small constants, initializers, with the names they have
// outside. The body's own inputs get `types`, in order. Throws InvalidInput where it has another number of them, or
// reads a name that nothing makes.
onnx::ModelProto BodyAsModel(const OnnxDraft& outer, const Node& node, onnx::GraphProto body,
                             const std::vector<TypedShape>& types);

}  // namespace millrace
