// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "millrace/formats/model.h"
#include "millrace/formats/onnx_proto.h"
#include "millrace/formats/onnx_read.h"

// A model on its way in: structure complete, shapes not all known yet. The importer makes it from the message, folds
// constants, infers shapes, drops what is dead, and hands out the Model inside.
namespace millrace {

struct OnnxDraft {
  using Stated = std::pair<DataType, Shape>;

  Model model;                                // nodes sorted; a value's type and shape hold only where `known`
  std::vector<char> known;                    // by value id
  std::vector<std::optional<Stated>> stated;  // by value id: what the file says of a value nodes make, if all of it
  std::vector<onnx::ValueInfoProto> outputs;  // as declared
};

// Takes the message apart (tensors are moved out of it). `folder` is where external data may lie; nullptr: nowhere.
// The message must have passed ValidateOnnx. Throws InvalidInput: a name nobody makes, or two do; a cycle; an input
// whose size stays open; external data missing.
OnnxDraft DraftOf(onnx::ModelProto& message, const std::string* folder, const OnnxReadOptions& options,
                  std::vector<std::string>& warnings);

// Removes nodes whose outputs nobody needs, leaves out optional outputs nobody reads, and then values nobody names.
void DropDead(OnnxDraft& draft);

// The finished model. Throws InvalidInput naming op and tensor where a shape is still not known.
Model Finished(OnnxDraft draft);

// Names that a control-flow body reads and does not define itself, in order of first use.
std::vector<std::string> NamesCaptured(const onnx::GraphProto& body);

}  // namespace millrace
