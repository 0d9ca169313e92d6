// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/onnx_write.h"

#include "millrace/errors/errors.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/onnx_message.h"

namespace millrace {

std::string OnnxBytes(const Model& model) {
  std::string bytes;
  if (!MessageOf(model).SerializeToString(&bytes)) {
    throw WorkFailed("the model takes more than the 2 GB that one ONNX file can hold");
  }
  return bytes;
}

void WriteOnnx(const Model& model, const std::string& path) {
  std::string bytes;
  try {
    bytes = OnnxBytes(model);
  } catch (const WorkFailed& error) {
    throw WorkFailed(path + ": " + error.what());
  }
  WriteFileAtomically(path, bytes);
}

}  // namespace millrace
