// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "millrace/formats/model.h"
#include "millrace/formats/onnx_read.h"

// The importer's stages put together, for models that are in memory already. ReadOnnx is the usual door.
namespace millrace {

enum class ShapeSource {
  kInference,  // libonnx, in a forked child
  kFile        // whatever the file states, unchecked: for fuzzing
};

// `folder`: where external data may lie; nullptr: nowhere. Throws InvalidInput.
Model ImportOnnx(std::string_view bytes, const std::string* folder, const OnnxReadOptions& options, ShapeSource shapes,
                 std::vector<std::string>& warnings);

}  // namespace millrace
