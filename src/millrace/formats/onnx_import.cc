// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/onnx_import.h"

#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <new>

#include "millrace/errors/errors.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/onnx_body.h"
#include "millrace/formats/onnx_draft.h"
#include "millrace/formats/onnx_fold.h"
#include "millrace/formats/onnx_halves.h"
#include "millrace/formats/onnx_infer.h"
#include "millrace/formats/onnx_proto.h"
#include "millrace/formats/onnx_quantized.h"
#include "millrace/formats/onnx_validate.h"

namespace millrace {
namespace {

constexpr std::size_t kMostMessageBytes = std::numeric_limits<std::int32_t>::max();

onnx::ModelProto Parsed(std::string_view bytes) {
  if (bytes.empty()) throw InvalidInput("the file is empty");
  if (bytes.size() > kMostMessageBytes) {
    throw InvalidInput("the file is larger than the 2 GB an ONNX message can be; store its weights as external data");
  }
  onnx::ModelProto message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    throw InvalidInput("this is no ONNX model, or only a part of one");
  }
  return message;
}

// Folds constants and Ifs whose condition is one, and drops what is dead then. True where there was such an If.
bool Simplify(OnnxDraft& draft) {
  bool inlined = false;
  for (;;) {
    FoldConstants(draft);
    DropDead(draft);
    if (InlineConstantIfs(draft) == 0) return inlined;
    inlined = true;
  }
}

Model Imported(onnx::ModelProto message, const std::string* folder, const OnnxReadOptions& options, ShapeSource shapes,
               std::vector<std::string>& warnings) {
  ValidateOnnx(message);
  if (WidenHalves(message)) {
    warnings.emplace_back("its tensors of float16 and bfloat16 are read as float32, in which the runtime computes");
  }
  OnnxDraft draft = DraftOf(message, folder, options, warnings);
  message = onnx::ModelProto();
  Simplify(draft);
  std::vector<std::string> doubts;
  do {  // a condition may become a constant only once shapes are known
    doubts.clear();
    if (shapes == ShapeSource::kInference) {
      InferShapes(draft, ForkLimits{}, doubts);
    } else {
      BelieveStatedShapes(draft);
    }
  } while (Simplify(draft));
  JoinQuantized(draft);
  DropDead(draft);
  warnings.insert(warnings.end(), doubts.begin(), doubts.end());
  return Finished(std::move(draft));
}

}  // namespace

Model ImportOnnx(std::string_view bytes, const std::string* folder, const OnnxReadOptions& options, ShapeSource shapes,
                 std::vector<std::string>& warnings) {
  return Imported(Parsed(bytes), folder, options, shapes, warnings);
}

Model ReadOnnx(const std::string& path, const OnnxReadOptions& options, std::vector<std::string>* warnings) {
  try {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    std::vector<std::string> ignored;
    // The file's bytes are freed before the message is taken apart: of a model of 2 GB each copy counts.
    onnx::ModelProto message = Parsed(ReadWholeFile(path, kMostMessageBytes));
    Model model = Imported(std::move(message), &folder, options, ShapeSource::kInference,
                           warnings == nullptr ? ignored : *warnings);
    if (model.name.empty()) model.name = std::filesystem::path(path).stem().string();
    return model;
  } catch (const InvalidInput& error) {
    const std::string line = error.what();
    throw line.find(path) == std::string::npos ? error.InFile(path) : error;
  } catch (const std::bad_alloc&) {
    throw InvalidInput(path + ": the model needs more memory than there is");
  }
}

}  // namespace millrace
