// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/formats/onnx_proto.h"

// What must hold of a model from a stranger before anything, libonnx included, computes with it: sizes that neither
// overflow nor lie, attributes that nothing divides by zero, names that are there. Graph structure (who makes what) is
// checked where the model is built (onnx_draft.h).
namespace millrace {

// The newest that are read, and the newest that libonnx 1.12 knows; onnx_newer.h bridges the gap. What came to the IR
// since version 10 (notes on devices, types of four bits and less) changes nothing for the models that are read.
inline constexpr std::int64_t kNewestIrVersion = 13;
inline constexpr std::int64_t kNewestKnownIrVersion = 8;
inline constexpr std::int64_t kNewestOpset = 22;
inline constexpr std::int64_t kNewestKnownOpset = 17;
// What a file with an opset newer than libonnx knows states.
inline constexpr std::int64_t kIrVersionOfNewerOpsets = 10;

// Throws InvalidInput naming node, attribute or tensor.
void ValidateOnnx(const onnx::ModelProto& model);

// "" for the ONNX domain in both of its spellings.
std::string PlainDomain(const std::string& domain);

// "node 'conv1' (Conv)", or with its number where it has no name.
std::string Described(const onnx::NodeProto& node, int index);

}  // namespace millrace
