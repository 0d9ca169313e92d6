// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "millrace/formats/onnx_draft.h"
#include "millrace/formats/onnx_shape_rules.h"

// The bodies of If, Loop and Scan. None of them is executed here: an If whose condition is a constant becomes the nodes
// of its branch, and every other one stays a single op whose outputs get the shapes that its bodies make.
namespace millrace {

// Is this an If whose condition is a constant? Its branches' shapes then say nothing until it is inlined.
bool IsDecided(const OnnxDraft& draft, const Node& node);

// Puts, in the place of every If whose condition is a constant, the nodes of the branch it takes. Returns how many
// there were. Wants a draft without dead nodes; leaves one with values nobody makes any more. Throws InvalidInput where
// a branch is no sound graph.
int InlineConstantIfs(OnnxDraft& draft);

// Types and shapes of the outputs of an If, a Loop or a Scan as its bodies make them: by output, nothing where it is
// not the same whatever the node reads. A value that a Loop or Scan carries keeps its shape or has none here. Infers
// shapes in this process, so it is for the child of onnx_infer.h. Throws InvalidInput where a body is no sound graph.
std::vector<std::optional<TypedShape>> ShapesOfControlFlow(const OnnxDraft& draft, const Node& node);

}  // namespace millrace
