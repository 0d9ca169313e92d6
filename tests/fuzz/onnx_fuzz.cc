// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/formats/model_graph.h"
#include "millrace/formats/onnx_import.h"
#include "millrace/formats/onnx_plan.h"
#include "millrace/formats/onnx_write.h"

namespace {

// A few bytes of model may stand for gigabytes of filled constants, which no fuzzer has the memory to write out.
bool SmallEnoughToWrite(const millrace::Model& model) {
  std::size_t bytes = 0;
  for (const millrace::Value& value : model.values) {
    if (value.constant != nullptr) bytes += value.constant->bytes();
    if (bytes > (std::size_t{1} << 24)) return false;
  }
  return true;
}

}  // namespace

// Everything of the ONNX importer that runs in our own process, that is without libonnx: parsing, validation, building,
// folding, the graph, a plan in the metadata; and small models written again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  OnnxReadOptions options;
  options.dimensions = {{"N", 2}, {"batch", 1}};
  std::vector<std::string> warnings;
  try {
    const Model model = ImportOnnx(std::string_view(reinterpret_cast<const char*>(data), size), nullptr, options,
                                   ShapeSource::kFile, warnings);
    GraphOfModel(model);
    if (SmallEnoughToWrite(model)) OnnxBytes(model);
    PlanOf(model);
  } catch (const InvalidInput&) {
  } catch (const WorkFailed&) {
  }
  return 0;
}
