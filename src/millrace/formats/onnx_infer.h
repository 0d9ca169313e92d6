// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "millrace/formats/onnx_child.h"
#include "millrace/formats/onnx_draft.h"

// libonnx's checker and shape inference, at arm's length.
namespace millrace {

// Fills in types and shapes of values, in a forked child: a model that makes libonnx crash, hang or swell costs one
// InvalidInput. What nodes imply comes before what the file states; contradictions become warnings. Throws InvalidInput
// with the complaint of libonnx, and Interrupted.
void InferShapes(OnnxDraft& draft, const ForkLimits& limits, std::vector<std::string>& warnings);

// The same in this process and as far as it gets, for bodies of control flow: only for what runs in that child.
void InferShapesHere(OnnxDraft& draft);

// Without libonnx: believes what the file states. For fuzzing, where nothing may fork.
void BelieveStatedShapes(OnnxDraft& draft);

}  // namespace millrace
