// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "millrace/formats/model.h"
#include "millrace/formats/onnx_proto.h"

// libonnx 1.12 knows operators up to opset 17. A node of a newer opset is shown to it as an older one whose outputs
// have the same types and shapes (a ReduceMean with axes as an input is shaped like a ReduceSum), or, where there is
// none, as one of a domain of our own that libonnx passes over; its shapes then come from onnx_shape_rules.h. So do
// those of If, Loop and Scan of any opset, from onnx_body.h: libonnx refuses a model for a branch that it never takes;
// and those of pools that round up, where libonnx still makes windows that begin behind the input. The model itself
// keeps its nodes and its opset as the file has them.
namespace millrace {

// The domain of nodes that libonnx is not to look at.
inline constexpr std::string_view kUnseenDomain = "millrace.unseen";

// Do the shapes of this node come from our own rules and not from libonnx? `opset` is that of the ONNX domain.
bool IsUnseen(const Node& node, std::int64_t opset);

// Turns `message`, which is `node` as it is, into what libonnx is shown.
void PutForLibonnx(const Node& node, std::int64_t opset, onnx::NodeProto* message);

}  // namespace millrace
