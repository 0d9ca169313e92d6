// SPDX-License-Identifier: Apache-2.0
#include "millrace/bench/built_model.h"

#include <vector>

#include "millrace/formats/model_graph.h"
#include "millrace/formats/onnx_import.h"
#include "millrace/formats/onnx_write.h"
#include "millrace/workloads/quantized_form.h"

namespace millrace::cli {

LoadedGraph BuiltModel(const std::string& family, const ModelOptions& options, NumberForm form) {
  LoadedGraph built;
  built.model = MakeModel(family, options);
  if (form == NumberForm::kQuantized) {
    std::vector<std::string> warnings;
    built.model = ImportOnnx(OnnxBytes(QuantizedForm(*built.model)), nullptr, {}, ShapeSource::kInference, warnings);
  }
  built.graph = GraphOfModel(*built.model);
  return built;
}

}  // namespace millrace::cli
