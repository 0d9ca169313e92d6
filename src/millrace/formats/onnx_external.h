// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "millrace/formats/model.h"
#include "millrace/formats/onnx_proto.h"

// Tensors whose elements lie in a file beside the model.
namespace millrace {

// Reads such tensors; a stretch of a file that several tensors name is read once and shared.
class ExternalData {
 public:
  // `folder`: where the model lies. Files outside it are refused.
  explicit ExternalData(std::string folder) : folder_(std::move(folder)) {}

  // Throws InvalidInput, beginning with `what`: no or an escaping location, a missing or short file.
  std::shared_ptr<const ConstantData> Read(const onnx::TensorProto& tensor, const std::string& what);

 private:
  using Stretch = std::tuple<std::string, std::uint64_t, DataType, Shape>;

  std::string folder_;
  std::map<Stretch, std::shared_ptr<const ConstantData>> read_;
};

}  // namespace millrace
