// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/load.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "millrace/errors/errors.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/graph_json.h"
#include "millrace/formats/json_value.h"
#include "millrace/formats/model_graph.h"
#include "millrace/formats/onnx_read.h"

namespace millrace {
namespace {

std::string Ending(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return ending;
}

LoadedGraph LoadOnnx(const std::string& path, const std::map<std::string, std::int64_t>& dimensions) {
  LoadedGraph loaded;
  OnnxReadOptions options;
  options.dimensions = dimensions;
  loaded.model = ReadOnnx(path, options, &loaded.warnings);
  loaded.graph = GraphOfModel(*loaded.model);
  return loaded;
}

}  // namespace

LoadedGraph LoadGraph(const std::string& path, const std::map<std::string, std::int64_t>& dimensions) {
  const std::string ending = Ending(path);
  if (ending == ".onnx") return LoadOnnx(path, dimensions);
  const std::string text = ReadWholeFile(path);
  LoadedGraph loaded;
  try {
    loaded.graph = ParseGraphJson(text);
  } catch (const InvalidInput& error) {
    throw error.InFile(path);
  }
  return loaded;
}

}  // namespace millrace
